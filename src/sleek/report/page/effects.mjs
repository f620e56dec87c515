// What a model says of a row: effects of columns, reasons, the smallest change, how familiar a row is.
// The same numbers as `Effects` and `sleek.model.reasons` in Python; rows are arrays, one value a column.

const PRODUCT = 0, SUM = 1; // how a unit follows from its terms; else a function of one column
const STEPS = 256, HALVINGS = 40, RARE = 0.01, END = 0.0005;

export function complete(model) { // what the model's file says of its columns
  const { facts } = JSON.parse(model.json);
  model.columns.forEach((column, c) => {
    const [first] = column.place;
    Object.assign(column, facts.distributions[c]);
    [column.low, column.high, column.deviation] = [facts.low[first], facts.high[first], facts.deviation[first]];
  });
}

export function evaluator(model) {
  const { program, columns, pairs, mean } = model;
  const K = mean.length;
  const classes = model.reads === "labels";

  // -- effects ---------------------------------------------------------------------------------------------

  function terms(part, j, [begin, end], x) {
    let total = 0;
    for (let i = begin; i < end; ++i) total += part.term(j, i, x[i]);
    return total;
  }

  const starts = [];
  program.parts.reduce((total, part) => { starts.push(total); return total + part.size; }, 0);
  const weight = (c, u, k) => program.theta[k][starts[columns[c].units[u][0]] + columns[c].units[u][1]];

  function centred(c, x) { // every unit that looks at column c, without its mean
    const column = columns[c];
    return column.units.map(([p, j, kind, average]) => {
      const part = program.parts[p], t = terms(part, j, column.place, x);
      if (kind === PRODUCT) return part.profile(part.start(j) + t) - average;
      if (kind === SUM) return t - average;
      const start = part.start(j);
      return part.profile(start + t) - part.profile(start) - average;
    });
  }

  function between(c, x, points) { // places in a table of points, and how far on the way
    const column = columns[c], own = x.slice(...column.place);
    const there = points.map((p) => column.points[p]);
    if (column.kind === "words") {
      let best = 0, least = Infinity;
      there.forEach((point, i) => {
        let distance = 0;
        point.forEach((v, k) => { distance += ((own[k] - v) / (column.scales[0][k] + 1e-300)) ** 2; });
        if (distance < least) [best, least] = [i, distance];
      });
      return [best, best, 0];
    }
    const isGap = (point) => column.indicator && point.length > 1 && point[point.length - 1] === 1;
    const gap = there.findIndex(isGap);
    if (gap >= 0 && isGap(own)) return [gap, gap, 0];
    const order = there.map((_, i) => i).filter((i) => !isGap(there[i]));
    if (!order.length) return [0, 0, 0];
    order.sort((a, b) => there[a][0] - there[b][0]);
    let high = order.findIndex((i) => there[i][0] >= own[0]);
    if (high < 0) high = order.length - 1;
    high = Math.min(Math.max(high, 1), order.length - 1);
    const low = Math.max(high - 1, 0), width = there[order[high]][0] - there[order[low]][0];
    const share = width > 0 ? (own[0] - there[order[low]][0]) / width : 0;
    return [order[low], order[high], Math.min(Math.max(share, 0), 1)];
  }

  function curve(c, x, values = centred(c, x)) {
    const column = columns[c], total = new Array(K).fill(0);
    column.units.forEach(([, , , , factor], u) => {
      for (let k = 0; k < K; ++k) total[k] += values[u] * (factor * weight(c, u, k));
    });
    for (const table of column.tables) {
      const [low, high, q] = between(c, x, column.points.map((_, i) => i));
      for (let k = 0; k < K; ++k) total[k] += (1 - q) * table[low][k] + q * table[high][k];
    }
    return total;
  }

  function effects(x) { // of features: curves [C][K] and pairs [P][K]
    const values = columns.map((_, c) => centred(c, x));
    const curves = columns.map((_, c) => curve(c, x, values[c]));
    const together = pairs.map(({ columns: [c, d], units, tables }) => {
      const total = new Array(K).fill(0);
      for (const [a, b, factor] of units) {
        const both = values[c][a] * values[d][b];
        for (let k = 0; k < K; ++k) total[k] += both * (factor * weight(c, a, k));
      }
      for (const { one, two, f } of tables) {
        const [a, b, p] = between(c, x, one), [u, v, q] = between(d, x, two);
        for (let k = 0; k < K; ++k) {
          total[k] += (1 - p) * ((1 - q) * f[a][u][k] + q * f[a][v][k])
            + p * ((1 - q) * f[b][u][k] + q * f[b][v][k]);
        }
      }
      return total;
    });
    return { curves, pairs: together };
  }

  function pulls(x) { // curves, and half of every pair for each of its columns
    const found = effects(x), sums = found.curves.map((one) => [...one]);
    pairs.forEach(({ columns: both }, n) => {
      for (const c of both) for (let k = 0; k < K; ++k) sums[c][k] += 0.5 * found.pairs[n][k];
    });
    return sums;
  }

  function contest(scores) { // the winner and the runner-up
    const order = scores.map((_, k) => k).sort((a, b) => scores[b] - scores[a] || a - b);
    return order.slice(0, 2);
  }

  function told(x, scores) { // for each column what is said of it, and how far it pulls to what is predicted
    const [first, second] = contest(scores);
    return pulls(x).map((pull) => {
      if (K === 1) {
        const usual = classes ? 0 : mean[0];
        return { effect: pull[0], side: scores[0] > usual ? pull[0] : -pull[0] };
      }
      if (classes) return { effect: pull[first] - pull[second], side: pull[first] - pull[second] };
      let side = 0;
      pull.forEach((p, k) => {
        side += p / Math.sqrt(Math.max(model.variances[k], 1e-300)) * (mean[k] < scores[k] ? 1 : -1);
      });
      return { effect: Math.max(...pull.map(Math.abs)), side };
    });
  }

  function reasons(row, n = 3) {
    const found = told(program.features(row), program.scores(row));
    return found.map((one, column) => ({ column, ...one }))
      .sort((a, b) => b.side - a.side || a.column - b.column)
      .filter(({ side }) => side > 0).slice(0, n);
  }

  // -- the smallest change ---------------------------------------------------------------------------------

  function choice(scores) {
    return K === 1 ? (scores[0] > 0 ? 1 : 0) : scores.indexOf(Math.max(...scores));
  }

  function around(row) { // decisions for other features of one column: only its terms are computed again
    const x = program.features(row);
    const sums = program.parts.map((part) => Array.from({ length: part.values ? 0 : part.size }, (_, j) =>
      part.start(j) + terms(part, j, [0, x.length], x)));
    return { x, decide(place, own) {
      const y = [...program.b], other = [...x.slice(0, place[0]), ...own, ...x.slice(place[1])];
      let unit = 0;
      program.parts.forEach((part, p) => {
        const values = part.values ? part.values(other) : null; // of layers: there is no sum to go on from
        for (let j = 0; j < part.size; ++j, ++unit) {
          let z = sums[p][j];
          for (let i = place[0]; !values && i < place[1]; ++i) {
            z += part.term(j, i, own[i - place[0]]) - part.term(j, i, x[i]);
          }
          const value = values ? values[j] : part.profile(z);
          for (let k = 0; k < K; ++k) y[k] += program.theta[k][unit] * value;
        }
      });
      return choice(y);
    } };
  }

  function featuresOf(row, c, value) { // of column c, if it had another value
    const column = columns[c];
    if (column.kind === "number") return column.indicator ? [value, 0] : [value];
    const other = [...row];
    other[c] = value;
    return program.features(other).slice(...column.place);
  }

  function roundNumber(far, near, flips) { // of few digits, beyond `far` as seen from `near`
    for (let digits = 1; digits < 17; ++digits) {
      const value = Number(far.toPrecision(digits));
      const close = Math.abs(value - far) <= 0.02 * Math.abs(far - near) + 0.02 * Math.abs(far);
      if ((value - near) * (far - near) > 0 && close && flips(value)) return value;
    }
    return far;
  }

  function flipOfNumber(row, c, base, now) {
    const { place, low, high, deviation } = columns[c], here = base.x[place[0]];
    const whole = [here, low, high].every(Number.isInteger);
    const flips = (value) => base.decide(place, featuresOf(row, c, value)) !== now;
    let best = null;
    for (const end of [low, high]) {
      const step = (end - here) / (STEPS - 1);
      let tried = Array.from({ length: STEPS - 1 }, (_, i) => (i === STEPS - 2 ? end : here + (i + 1) * step));
      if (whole) tried = [...new Set(tried.map(roundHalfEven))].filter((value) => value !== here);
      const first = tried.findIndex(flips);
      if (first < 0) continue;
      let near = first === 0 ? here : tried[first - 1], far = tried[first];
      for (let i = 0; i < (whole ? 0 : HALVINGS); ++i) {
        const middle = 0.5 * (near + far);
        if (flips(middle)) far = middle; else near = middle;
      }
      far = roundNumber(far, near, flips);
      if (best === null || Math.abs(far - here) < Math.abs(best - here)) best = far;
    }
    return best === null ? null
      : { column: c, value: best, distance: Math.abs(best - here) / (deviation || 1) };
  }

  function flipOfLevel(row, c, base, now) {
    const column = columns[c];
    let best = null;
    column.levels.slice(0, column.n_levels).forEach(({ value, share }) => {
      if (base.decide(column.place, featuresOf(row, c, value)) !== now && (!best || share > best.share)) {
        best = { column: c, value, share, distance: 1 };
      }
    });
    return best;
  }

  function flip(row) { // of one column, so that the model decides otherwise; null: there is none
    if (!classes) return null;
    const base = around(row), now = choice(program.scores(row));
    let best = null;
    columns.forEach((column, c) => {
      const one = (column.kind === "words" ? flipOfLevel : flipOfNumber)(row, c, base, now);
      if (one && (!best || one.distance < best.distance)) best = one;
    });
    if (!best) return null;
    const other = [...row];
    other[best.column] = best.value;
    return { ...best, prediction: program.predict(other), row: other };
  }

  // -- how familiar ----------------------------------------------------------------------------------------

  function shareOf(c, x) { // of the training rows, and why it is small
    const column = columns[c], own = x.slice(...column.place), { points, weights } = column;
    const missing = column.indicator && own[own.length - 1] === 1;
    if (column.kind === "words" || missing) {
      let share = 0;
      points.forEach((point, i) => { if (point.every((v, k) => v === own[k])) share += weights[i]; });
      return { share, why: share === 0 ? "never" : "rare" };
    }
    const [value] = own;
    if (value < column.low) return { share: 0, why: "below" };
    if (value > column.high) return { share: 0, why: "above" };
    const known = points.map((_, i) => i).filter((i) => !(column.indicator && points[i][points[i].length - 1] === 1));
    known.sort((a, b) => points[a][0] - points[b][0]);
    const total = known.reduce((sum, i) => sum + weights[i], 0);
    const at = known.map((i) => points[i][0]), cumulated = [], least = [];
    let sum = 0;
    for (const i of known) {
      sum += weights[i] / total;
      cumulated.push(sum);
      least.push(1 - sum + weights[i] / total);
    }
    let up = interpolate(value, at, least), down = interpolate(value, at, cumulated);
    const [first, last] = [at[0], at[at.length - 1]];
    if (value < first) down *= first > column.low ? (value - column.low) / (first - column.low) : 1;
    if (value > last) up *= column.high > last ? (column.high - value) / (column.high - last) : 1;
    const share = Math.min(1, 2 * Math.min(up, down));
    return { share, why: share < 2 * END ? "end" : "far" };
  }

  function unusual(row) {
    const x = program.features(row);
    return columns.map((_, column) => ({ column, ...shareOf(column, x) }))
      .filter(({ share }) => share < RARE).sort((a, b) => a.share - b.share || a.column - b.column);
  }

  function curveAt(row, c, value) { // what column c alone adds at another value
    const x = program.features(row);
    featuresOf(row, c, value).forEach((v, i) => { x[columns[c].place[0] + i] = v; });
    return curve(c, x);
  }

  function curveOf(c, own) { // what column c alone adds where its features are these
    const x = [];
    own.forEach((v, i) => { x[columns[c].place[0] + i] = v; });
    return curve(c, x);
  }

  return { effects, curveAt, curveOf, pulls, told, reasons, flip, unusual, contest };
}

function interpolate(value, x, y) {
  if (value <= x[0]) return y[0];
  const last = x.length - 1;
  if (value >= x[last]) return y[last];
  const i = x.findIndex((v) => v > value) - 1;
  return y[i] + (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (value - x[i]);
}

function roundHalfEven(value) {
  const floor = Math.floor(value), rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
