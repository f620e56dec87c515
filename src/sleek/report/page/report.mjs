// The page of a report that answers: controls for the columns of a row, and what the model says of it.
import { editor } from "./editing.mjs";
import { complete, evaluator } from "./effects.mjs";

const DAY = 864e5, FIRST_CONTROLS = 12, MOST_REASONS = 8, MOST_CLASSES = 8;

/**
 * Bring a report to life.
 * @param {{model: object, el: HTMLElement}} what the model with its program, and the element whose shadow root
 *   has the page, or has a template of it
 */
export function render({ model, el }) {
  const template = el.querySelector(":scope > template");
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  if (template) root.append(template.content);
  download(root, model);
  const place = root.querySelector(".what-if");
  if (!place || !model.program) return { root };
  complete(model);
  const { columns, order } = model, evaluate = evaluator(model);
  const start = columns.map((column) => {
    if (column.kind === "words") return column.levels[column.start].value;
    return column.kind === "number" ? rounded(column, column.start) : column.start;
  });
  const reads = (c) => columns[c].units.length > 0 || columns[c].tables.some((table) => table.flat().some(Boolean));
  const first = order.filter(reads).slice(0, FIRST_CONTROLS), others = order.filter((c) => !first.includes(c));
  const row = [...start];
  const controls = columns.map(() => null);
  const answer = panel(model);
  let later = 0, waiting = false;

  function set(c, value, quiet) {
    row[c] = value;
    controls[c]?.show(value);
    if (!quiet) update();
  }

  function update() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const features = model.program.features(row), scores = model.program.scores(row);
      answer.show(row, scores, evaluate.told(features, scores), evaluate.unusual(row));
      mark(root, columns, row, evaluate.effects(features).curves);
      clearTimeout(later);
      later = setTimeout(() => {
        answer.flip(evaluate.flip(row), row, (other, c) => set(c, other[c]));
        write(columns, row, start);
      }, 120);
    });
  }

  const list = make("div", "controls"), more = make("div", "controls");
  first.forEach((c) => {
    list.append((controls[c] = control(columns[c], (value) => set(c, value))).element);
    controls[c].show(row[c]);
  });
  const left = make("div", "choose");
  left.append(list);
  if (others.length) {
    const unused = others.length - others.filter(reads).length;
    const told = unused === others.length ? (unused === 1 ? "1 column that does not matter" : `${unused} columns that do not matter`)
      : `${others.length} columns that matter less${unused ? `, ${unused} of them not at all` : ""}`;
    const rest = make("details"), title = make("summary", "", told);
    rest.append(title, more);
    rest.addEventListener("toggle", () => {
      if (more.childElementCount) return;
      for (const c of others) {
        more.append((controls[c] = control(columns[c], (value) => set(c, value))).element);
        controls[c].show(row[c]);
      }
    });
    left.append(rest);
  }
  const buttons = make("p", "buttons"), again = make("button", "", "Start again"), link = make("button", "", "Copy link");
  again.type = link.type = "button";
  const begin = (values) => { columns.forEach((_, c) => set(c, values[c], true)); update(); };
  const rows = [["", start], ...model.rows], chosen = chooser(rows, (n) => begin(rows[n][1]));
  if (model.rows.length) list.before(chosen.element);
  again.addEventListener("click", () => begin(rows[chosen.number()][1]));
  link.addEventListener("click", async () => {
    write(columns, row, start);
    try {
      await navigator.clipboard.writeText(location.href);
      link.textContent = "Copied";
    } catch { // a page from disk may not be allowed to: the address has it
      link.textContent = "It is in the address bar";
    }
    setTimeout(() => { link.textContent = "Copy link"; }, 2000);
  });
  buttons.append(again, link);
  left.append(buttons);
  place.replaceChildren(left, answer.element);
  const follow = () => { read(columns, start).forEach((value, c) => set(c, value, true)); update(); };
  addEventListener("hashchange", follow);
  follow();
  const desk = root.querySelector(".edit"), changed = () => { update(); compare(root, model, evaluate, row); };
  const edit = desk && model.editable ? editing(model, desk, changed) : null;
  return { root, row, set, evaluate, program: model.program, edit };
}

// -- controls ----------------------------------------------------------------------------------------------

function chooser(rows, changed) { // the row to begin with: a typical one, or one that the page carries
  const element = make("label", "rows", "Start from "), select = make("select");
  rows.forEach(([number], n) => {
    const option = make("option", "", n ? `row ${number}` : "a typical row");
    option.value = String(n);
    select.append(option);
  });
  select.addEventListener("change", () => changed(Number(select.value)));
  element.append(select);
  return { element, number: () => Number(select.value) };
}

function control(column, changed) {
  const element = make("div", "control"), label = make("label"), name = make("span", "name", column.shown);
  const share = make("span", "share", percent(column.share));
  label.append(name, share);
  element.append(label);
  const id = `control-${Math.random().toString(36).slice(2)}`;
  label.htmlFor = id;
  if (column.kind === "words") {
    const select = make("select");
    select.id = id;
    column.levels.forEach(({ shown, share: own }, i) => {
      const option = make("option", "", own ? `${shown} (${percent(own)})` : shown);
      option.value = String(i);
      select.append(option);
    });
    select.addEventListener("change", () => changed(column.levels[Number(select.value)].value));
    element.append(select);
    return { element, show(value) { select.value = String(column.levels.findIndex((one) => one.value === value)); } };
  }
  const date = column.kind === "date", line = make("div", "pair");
  const slider = make("input"), box = make("input"), gap = make("input");
  Object.assign(slider, { type: "range", min: String(column.low), max: String(column.high), step: date ? "1" : "any", id });
  const whole = [column.low, column.high].every(Number.isInteger) && Number.isInteger(column.start);
  if (whole) slider.step = "1";
  Object.assign(box, { type: date ? (column.clock ? "datetime-local" : "date") : "number", step: "any" });
  box.setAttribute("aria-label", `${column.shown}, exactly`);
  slider.addEventListener("input", () => changed(whole || date ? Number(slider.value) : rounded(column, Number(slider.value))));
  box.addEventListener("input", () => {
    const value = date ? Date.parse(`${box.value}${column.clock ? "Z" : ""}`) / DAY : Number(box.value);
    if (box.value !== "" && Number.isFinite(value)) changed(value);
  });
  line.append(slider, box);
  element.append(line);
  if (column.gap) {
    const missing = make("label", "gap");
    gap.type = "checkbox";
    missing.append(gap, " missing");
    gap.addEventListener("change", () => changed(gap.checked ? null : Number(slider.value)));
    element.append(missing);
  }
  return {
    element,
    show(value) {
      gap.checked = value === null;
      slider.disabled = box.disabled = value === null;
      if (value === null) return;
      slider.value = String(value);
      slider.setAttribute("aria-valuetext", date ? day(value) : String(value));
      const shown = date ? new Date(value * DAY).toISOString().slice(0, column.clock ? 16 : 10) : String(value);
      if (box.getRootNode().activeElement !== box) box.value = shown;
    },
  };
}

function rounded(column, value) { // to a thousandth of the range
  return Number(value.toFixed(Math.min(20, Math.max(0, 3 - Math.floor(Math.log10(column.high - column.low || 1))))));
}

// -- the answer --------------------------------------------------------------------------------------------

function panel(model) {
  const element = make("div", "answer"), said = make("p", "prediction");
  element.setAttribute("aria-live", "polite");
  const toward = make("p", "toward"), sure = make("div", "sure"), why = make("div", "why"), turn = make("p", "flip"), strange = make("p", "strange");
  element.append(make("p", "eyebrow", `Predicted ${model.target}`), said, sure, strange, make("h3", "", "Why"), toward, why, turn);
  const { program, columns } = model, classes = model.reads === "labels";

  function show(row, scores, told, unusual) {
    const answer = program.predict(row);
    said.textContent = Array.isArray(answer)
      ? answer.map((value, k) => `${model.words[k]} ${precise(value)}`).join(", ")
      : classes ? model.labels[program.labels.indexOf(answer)] : precise(answer);
    sure.replaceChildren(...(classes ? chances(model, row) : ranges(model, row, scores)));
    why.replaceChildren(...bars(model, row, told));
    toward.textContent = direction(model, scores);
    strange.replaceChildren();
    if (unusual.length) {
      const words = unusual.slice(0, 3).map(({ column, share, why: reason }) => `${named(columns[column], row[column])} ${WHY[reason](columns[column], share)}`);
      const rest = unusual.length > 3 ? `; and ${unusual.length - 3} more` : "";
      strange.append(make("b", "", "Unlike the training rows: "), `${words.join("; ")}${rest}.`);
    }
    strange.hidden = !unusual.length;
    turn.classList.toggle("waits", true);
  }

  function flip(found, row, apply) {
    turn.classList.toggle("waits", false);
    turn.replaceChildren();
    if (!classes) return;
    if (!found) {
      turn.textContent = "No change of a single column within the training range alters the decision.";
      return;
    }
    const column = columns[found.column], button = make("button", "", "Try it");
    button.type = "button";
    button.addEventListener("click", () => apply(found.row, found.column));
    const label = model.labels[program.labels.indexOf(found.prediction)];
    turn.append("The smallest change that flips it: ", make("b", "", label), ` if ${column.shown} were `,
      make("b", "", valued(column, found.value)), ` instead of ${valued(column, row[found.column])}. `, button);
  }

  return { element, show, flip };
}

const WHY = {
  never: () => "is in no training row",
  rare: (_, share) => `is in ${percent(share)} of the training rows`,
  below: (column) => `is below all training rows (${valued(column, column.low)})`,
  above: (column) => `is above all training rows (${valued(column, column.high)})`,
  end: () => "is at the very end of the training rows",
  far: (_, share) => `is as far out as ${percent(share / 2)} of the training rows`,
};

function chances(model, row) {
  const { program } = model;
  if (!program.probabilities) return [];
  const found = program.probabilities(row).map((p, k) => ({ p, k })).sort((a, b) => (model.labels.length > 2 ? b.p - a.p : 0));
  return found.slice(0, MOST_CLASSES).map(({ p, k }) => {
    const line = make("div", "chance"), bar = make("span", "bar"), fill = make("i");
    fill.style.width = `${100 * p}%`;
    bar.append(fill);
    line.append(make("span", "name", model.labels[k]), bar, make("span", "value", percent(p)));
    return line;
  });
}

function ranges(model, row, scores) {
  if (!model.program.interval) return [];
  if (model.edited) return [make("p", "between", "Intervals were those of the model before it was edited.")];
  const found = model.program.interval(row), ends = Array.isArray(found[0]) ? found : [found];
  return ends.flatMap(([low, high], k) => {
    const scale = make("div", "range"), band = make("i"), dot = make("b"), usual = make("s");
    const from = model.mean[k] - 2.5 * model.spread[k], to = model.mean[k] + 2.5 * model.spread[k];
    const at = (value) => Math.min(100, Math.max(0, (value - from) / (to - from || 1) * 100));
    band.style.left = `${at(low)}%`;
    band.style.width = `${at(high) - at(low)}%`;
    dot.style.left = `${at(scores[k])}%`;
    usual.style.left = `${at(model.mean[k])}%`;
    usual.title = `on average ${precise(model.mean[k])}`;
    scale.append(band, usual, dot);
    const name = ends.length > 1 ? `${model.words[k]}: ` : "";
    return [scale, make("p", "between", `${name}between ${precise(low)} and ${precise(high)} with probability ${percent(model.level)}`)];
  });
}

function direction(model, scores) { // what bars to the left and to the right mean
  if (model.reads !== "labels") {
    return scores.length > 1 ? "How far each value moves the targets" : `Added to the average of ${precise(model.mean[0])}`;
  }
  if (scores.length === 1) return `Left: towards ${model.labels[0]}. Right: towards ${model.labels[1]}.`;
  const [first, second] = scores.map((_, k) => k).sort((a, b) => scores[b] - scores[a] || a - b);
  return `Right: for ${model.labels[first]}. Left: for ${model.labels[second]}, which comes next.`;
}

function bars(model, row, told) {
  const most = Math.max(...told.map(({ effect }) => Math.abs(effect)), 1e-300);
  return told.map((one, c) => ({ ...one, c })).sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
    .filter(({ effect }) => Math.abs(effect) > 0.005 * most).slice(0, MOST_REASONS)
    .map(({ effect, c }) => {
      const line = make("div", "reason"), bar = make("span", "bar"), fill = make("i", effect >= 0 ? "up" : "down");
      const wide = 50 * Math.abs(effect) / most;
      fill.style.width = `${wide}%`;
      fill.style.left = `${effect >= 0 ? 50 : 50 - wide}%`;
      bar.append(fill);
      line.append(make("span", "name", named(model.columns[c], row[c])), bar, make("span", "value", signed(effect)));
      return line;
    });
}

function mark(root, columns, row, curves) { // where the row is, in every picture that is open
  for (const figure of root.querySelectorAll("figure[data-column]")) {
    const dot = figure.querySelector(".now"), c = Number(figure.dataset.column);
    if (!dot || curves[c].length !== 1 || columns[c].kind === "words" || figure.closest("details:not([open])")) continue;
    const [x, y] = [dot.dataset.x, dot.dataset.y].map((text) => text.split(" ").map(Number));
    const value = row[c], inside = value !== null && value >= x[0] && value <= x[1];
    dot.setAttribute("visibility", inside ? "visible" : "hidden");
    if (inside) {
      dot.setAttribute("cx", along(x, value));
      dot.setAttribute("cy", along(y, curves[c][0]));
    }
  }
}

function along([low, high, start, end], value) {
  return start + (end - start) * (high > low ? (value - low) / (high - low) : 0.5);
}

// -- editing -----------------------------------------------------------------------------------------------

function editing(model, desk, changed) {
  const { program, units, words } = model, edit = editor(model), alone = words.length === 1;
  const steps = []; // what was done, with the state before it
  let state = copy(edit.start), found = edit.solve(state);
  const first = found.error, list = make("div", "desk"), said = make("p", "said"), past = make("ol", "past");
  const note = make("input"), undo = make("button", "", "Undo"), save = make("button", "", "Download the edited model (JSON)");
  note.placeholder = "Why? A note that travels with the next change";
  note.setAttribute("aria-label", "Note for the next change");
  undo.type = save.type = "button";

  function apply(words, next) {
    if (next.removed.size >= edit.n) { show(); said.textContent = "A model needs at least one unit: not all can be taken out."; return; }
    const before = found.error;
    steps.push({ state, words, note: note.value, before });
    state = next;
    note.value = "";
    take();
  }

  function take() {
    found = edit.solve(state);
    if (steps.length) steps[steps.length - 1].after = found.error;
    found.theta.forEach((line, j) => line.forEach((v, k) => { program.theta[k][j] = v; }));
    found.b.forEach((v, k) => {
      program.b[k] = v;
      model.mean[k] = found.theta.reduce((total, line, j) => total + line[k] * model.unit_means[j], v);
    });
    model.edited = steps.length > 0;
    show();
    changed();
  }

  const lines = units.map((sentence, j) => {
    const line = make("div", "unit"), box = make("input"), label = make("label"), id = `unit-${j}`;
    Object.assign(box, { type: "checkbox", checked: true, id });
    label.htmlFor = id;
    label.textContent = `${j}: ${sentence}`;
    box.addEventListener("change", () => {
      const next = copy(state);
      if (box.checked) next.removed.delete(j); else next.removed.add(j);
      apply(box.checked ? `put unit ${j} back` : `took out unit ${j}`, next);
    });
    line.append(box, label);
    const weight = make("input"), sign = make("select");
    if (alone) {
      Object.assign(weight, { type: "number", step: "any" });
      weight.setAttribute("aria-label", `Weight of unit ${j}`);
      weight.addEventListener("change", () => {
        const next = copy(state), value = Number(weight.value);
        if (weight.value === "") next.fixed.delete(j); else next.fixed.set(j, [value]);
        if (value * (next.signs.get(j) ?? 0) < 0) next.signs.delete(j);
        apply(weight.value === "" ? `let unit ${j} free` : `fixed unit ${j} at ${value}`, next);
      });
      sign.setAttribute("aria-label", `Sign of unit ${j}`);
      for (const [value, text] of [["0", "any sign"], ["1", "not below 0"], ["-1", "not above 0"]]) {
        const option = make("option", "", text);
        option.value = value;
        sign.append(option);
      }
      sign.addEventListener("change", () => {
        const next = copy(state), value = Number(sign.value);
        if (value) next.signs.set(j, value); else next.signs.delete(j);
        if (value && (next.fixed.get(j)?.[0] ?? 0) * value < 0) next.fixed.delete(j);
        apply(value ? `held unit ${j} to ${value > 0 ? "+" : "-"}` : `let unit ${j} have any sign`, next);
      });
      line.append(weight, sign);
    } else {
      line.append(make("span", "weights"));
    }
    list.append(line);
    return { line, box, weight, sign };
  });

  const columns = make("select"), out = make("button", "", "Take out");
  columns.setAttribute("aria-label", "A column to take out");
  for (const c of model.order.filter((one) => model.columns[one].units.length)) {
    const option = make("option", "", model.columns[c].shown);
    option.value = String(c);
    columns.append(option);
  }
  out.type = "button";
  out.addEventListener("click", () => {
    const next = copy(state), column = model.columns[Number(columns.value)], starts = [];
    program.parts.reduce((total, part) => { starts.push(total); return total + part.size; }, 0);
    const own = column.units.map(([p, j]) => starts[p] + j);
    for (const j of own) next.removed.add(j);
    apply(`took out column ${column.shown} (${own.length} unit${own.length === 1 ? "" : "s"})`, next);
  });

  function show() {
    lines.forEach(({ line, box, weight, sign }, j) => {
      const gone = state.removed.has(j);
      line.classList.toggle("gone", gone);
      box.checked = !gone;
      weight.disabled = sign.disabled = gone;
      if (alone) {
        weight.value = gone ? "" : String(Number(found.theta[j][0].toPrecision(6)));
        weight.classList.toggle("fixed", state.fixed.has(j));
        sign.value = String(state.signs.get(j) ?? 0);
      } else {
        line.querySelector(".weights").textContent = gone ? "" : found.theta[j].map((v) => signed(v)).join("  ");
      }
    });
    const told = first.map((error, k) => `${alone ? "" : `${words[k]}: `}${precise(Math.sqrt(error))} → ${precise(Math.sqrt(found.error[k]))}`);
    said.textContent = steps.length
      ? `Root mean squared error on the training rows ${told.join(", ")}. It follows from the sums; the error on new rows does not, and is not known.`
      : "Nothing has been changed yet.";
    past.replaceChildren(...edit.past.map((one) => make("li", "", `${one.words}${one.note ? ` (${one.note})` : ""}`)),
      ...steps.map((one) => make("li", "", `${one.words}${one.note ? ` (${one.note})` : ""}`)));
    undo.disabled = save.disabled = !steps.length;
  }

  undo.addEventListener("click", () => { ({ state } = steps.pop()); take(); });
  save.addEventListener("click", () => offer(text(), "edited.json"));
  const text = () => edit.document(state, found, steps.map(({ words: done, note: why, before, after }) => ({ words: done, note: why, before, after })));
  const tools = make("p", "buttons"), choose = make("p", "buttons");
  choose.append("Column ", columns, out);
  tools.append(undo, save);
  desk.replaceChildren(said, list, choose, note, past, tools);
  show();
  return { solve: edit.solve, text, undo: () => undo.click() };
}

function copy({ removed, fixed, signs }) {
  return { removed: new Set(removed), fixed: new Map(fixed), signs: new Map(signs) };
}

function compare(root, model, evaluate, row) { // curves and bars as they are now, over those of the page
  for (const figure of root.querySelectorAll("figure[data-column]")) {
    const c = Number(figure.dataset.column), dot = figure.querySelector(".now");
    figure.querySelectorAll(".edited").forEach((one) => one.remove());
    if (model.edited) outline(figure, model.columns[c], (own) => evaluate.curveOf(c, own)[0]);
    if (!model.edited || !dot) continue;
    const [x, y] = [dot.dataset.x, dot.dataset.y].map((one) => one.split(" ").map(Number));
    const shape = figure.querySelector(".line").cloneNode();
    let path = "";
    for (let i = 0; i <= 96; ++i) {
      const value = x[0] + (x[1] - x[0]) * i / 96;
      const [height] = evaluate.curveAt(row, c, value);
      path += `${path ? "L" : "M"}${along(x, value).toFixed(1)} ${along(y, height).toFixed(1)}`;
    }
    shape.setAttribute("class", "line edited");
    shape.setAttribute("d", path);
    dot.before(shape);
  }
}

function outline(figure, column, height) { // of every bar of a level, as it is now
  const scale = figure.querySelector(".zero[data-x]")?.dataset.x.split(" ").map(Number);
  for (const bar of figure.querySelectorAll("rect[data-point]")) {
    const value = height(column.points[Number(bar.dataset.point)]), wide = figure.querySelector("svg").viewBox.baseVal.width;
    const [from, to] = [along(scale, 0), Math.min(Math.max(along(scale, value), 0), wide)];
    const shape = bar.cloneNode(true);
    shape.setAttribute("class", "edited");
    shape.setAttribute("x", Math.min(from, to).toFixed(1));
    shape.setAttribute("width", Math.abs(to - from).toFixed(1));
    shape.removeAttribute("data-point");
    shape.firstElementChild.textContent = `now ${signed(value)}`;
    bar.after(shape);
  }
}

// -- the link ----------------------------------------------------------------------------------------------

function write(columns, row, start) {
  const parts = columns.flatMap((column, c) => (row[c] === start[c] ? []
    : [`${encodeURIComponent(column.name)}=${row[c] === null ? "" : encodeURIComponent(asText(column, row[c]))}`]));
  const hash = parts.length ? `#${parts.join("&")}` : "";
  if (hash === location.hash) return;
  history.replaceState(null, "", hash || location.pathname + location.search);
}

function read(columns, start) {
  const row = [...start];
  for (const part of location.hash.slice(1).split("&")) {
    const [name, text] = part.split("=").map(decoded), c = columns.findIndex((column) => column.name === name);
    if (c < 0 || text === undefined) continue;
    const column = columns[c];
    const value = text === "" ? null : column.kind === "words" ? text : column.kind === "date" ? Date.parse(text.length > 10 ? `${text}Z` : text) / DAY : Number(text);
    const known = column.kind === "words" ? column.levels.some((one) => one.value === value)
      : value === null ? column.gap : Number.isFinite(value);
    if (known) row[c] = value;
  }
  return row;
}

function asText(column, value) {
  return column.kind === "date" ? new Date(value * DAY).toISOString().slice(0, column.clock ? 16 : 10) : String(value);
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

// -- words -------------------------------------------------------------------------------------------------

function make(tag, name = "", text = "") {
  const found = document.createElement(tag);
  if (name) found.className = name;
  if (text) found.textContent = text;
  return found;
}

function valued(column, value) {
  if (value === null) return "missing";
  if (column.kind === "date") return day(value);
  if (column.kind === "words") return column.levels.find((one) => one.value === value)?.shown ?? String(value);
  return String(Number(value.toPrecision(6)));
}

function named(column, value) {
  return value === null ? `${column.shown} is missing` : `${column.shown} ${valued(column, value)}`;
}

function day(value) { return new Date(value * DAY).toISOString().slice(0, 10); }

function grouped(value) { return Math.round(value).toLocaleString("en-US"); }

function precise(value) { return Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(4))); }

function signed(value) {
  const text = Math.abs(value) >= 1000 ? grouped(value) : String(Number(value.toPrecision(3)));
  return value >= 0 ? `+${text}` : text.replace("-", "−");
}

function percent(share) {
  const value = 100 * share;
  if (value > 99.5 && value < 100) return value > 99.9 ? ">99.9 %" : `${value.toFixed(1)} %`;
  return `${value >= 10 || value === 0 ? Math.round(value) : value >= 0.1 ? value.toFixed(1) : "<0.1"} %`;
}

function download(root, model) {
  const button = root.querySelector("button.download");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => offer(model.json, "model.json"));
}

function offer(text, name) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
