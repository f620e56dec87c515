// Units taken out, weights fixed or held to a sign, and the rest solved again from the sums over rows.
// The same as `sleek.model.editing` in Python: A_FF θ_F = R_F - A_FX θ_X with A = G + I/C.

const ENOUGH = 1e-12, EDITED = "before it was edited";

export function editor(model) {
  const file = JSON.parse(model.json), { sums } = file.moments;
  const m = file.theta.length, K = file.b.length, size = 1 + m + K;
  const numbers = file.outputs.kind === "numbers";
  const scale = numbers ? file.outputs.scale : new Array(K).fill(1);
  const shift = numbers ? file.outputs.mean : new Array(K).fill(0);

  // -- centred moments, as RunningSums.moments -------------------------------------------------------------

  const Z = (i, j) => (i >= j ? sums.high[i][j] + sums.low[i][j] : Z(j, i));
  const S = Z(0, 0), shifts = range(size - 1).map((i) => Z(0, 1 + i) / S);
  const centred = (i, j) => Z(1 + i, 1 + j) - Z(0, 1 + i) * shifts[j];
  const means = shifts.map((v, i) => v + sums.origin[i]);
  const G = range(m).map((i) => range(m).map((j) => centred(i, j)));
  const R = range(m).map((i) => range(K).map((k) => centred(i, m + k)));
  const tt = range(K).map((k) => centred(m + k, m + k));
  const A = G.map((line, i) => line.map((v, j) => (i === j ? v + 1 / file.C : v)));

  function solve({ removed, fixed, signs }) { // in the user's units: theta [m][K] with 0 for what is out, b, error
    const kept = range(m).filter((j) => !removed.has(j));
    const given = kept.filter((j) => fixed.has(j)), free = kept.filter((j) => !fixed.has(j));
    const theta = range(m).map((j) => range(K).map((k) => (fixed.has(j) && !removed.has(j) ? fixed.get(j)[k] / scale[k] : 0)));
    for (let k = 0; k < K; ++k) {
      const right = free.map((i) => given.reduce((total, j) => total - A[i][j] * theta[j][k], R[i][k]));
      const own = free.map((i) => free.map((j) => A[i][j]));
      solveWithSigns(own, right, free.map((j) => signs.get(j) ?? 0)).forEach((v, n) => { theta[free[n]][k] = v; });
    }
    const b = range(K).map((k) => {
      const constant = kept.reduce((total, j) => total - means[j] * theta[j][k], means[m + k]);
      return constant * scale[k] + shift[k];
    });
    const error = range(K).map((k) => {
      let squares = tt[k];
      for (const i of kept) {
        squares -= 2 * theta[i][k] * R[i][k];
        for (const j of kept) squares += theta[i][k] * G[i][j] * theta[j][k];
      }
      return Math.max(squares, 0) / S * scale[k] ** 2;
    });
    return { theta: theta.map((line, j) => line.map((v, k) => (fixed.has(j) && !removed.has(j) ? fixed.get(j)[k] : v * scale[k]))), b, error };
  }

  function document(state, found, history) { // the edited model as its file
    const kept = range(m).filter((j) => !state.removed.has(j)), place = new Map(kept.map((j, n) => [j, n]));
    const edited = structuredClone(file);
    let begin = 0;
    edited.parts = file.parts.flatMap((part) => {
      const count = Object.values(part.units)[0].length, first = begin;
      begin += count;
      const own = range(count).filter((j) => place.has(first + j));
      const units = Object.fromEntries(Object.entries(part.units).map(([name, lines]) => [name, own.map((j) => lines[j])]));
      return own.length ? [{ ...part, units }] : [];
    });
    edited.theta = kept.map((j) => found.theta[j]);
    edited.b = found.b;
    const lines = [0, ...kept.map((j) => 1 + j), ...range(K).map((k) => 1 + m + k)];
    edited.moments.sums = {
      origin: lines.slice(1).map((i) => sums.origin[i - 1]),
      high: lines.map((i, n) => lines.slice(0, n + 1).map((j) => sums.high[i][j])),
      low: lines.map((i, n) => lines.slice(0, n + 1).map((j) => sums.low[i][j])),
    };
    if (numbers) edited.calibration = null;
    if (!edited.facts.expected_error.method.includes(EDITED)) edited.facts.expected_error.method += `, ${EDITED}`;
    edited.edits = {
      fixed: [...state.fixed].filter(([j]) => place.has(j)).map(([j, weights]) => ({ unit: place.get(j), weights })),
      signs: [...state.signs].filter(([j]) => place.has(j)).map(([j, sign]) => ({ unit: place.get(j), sign })),
      history: [...(file.edits?.history ?? []), ...history],
    };
    return JSON.stringify(edited);
  }

  const start = { removed: new Set(), fixed: new Map(), signs: new Map() };
  for (const { unit, weights } of file.edits?.fixed ?? []) start.fixed.set(unit, weights);
  for (const { unit, sign } of file.edits?.signs ?? []) start.signs.set(unit, sign);
  return { solve, document, start, n: m, past: file.edits?.history ?? [] };
}

export function solveWithSigns(A, r, signs) { // min ½θᵀAθ - θᵀr with θ_j·sign_j >= 0
  const n = r.length, active = signs.map((sign) => sign === 0);
  let theta = new Array(n).fill(0);
  const most = Math.max(...r.map(Math.abs), 0) || 1;
  for (let turn = 0; turn < 3 * n + 3; ++turn) {
    for (;;) {
      const places = range(n).filter((j) => active[j]);
      const wanted = new Array(n).fill(0);
      solvePositive(places.map((i) => places.map((j) => A[i][j])), places.map((i) => r[i])).forEach((v, k) => { wanted[places[k]] = v; });
      const wrong = places.filter((j) => wanted[j] * signs[j] < 0);
      if (!wrong.length) { theta = wanted; break; }
      const steps = wrong.map((j) => theta[j] / (theta[j] - wanted[j])), step = Math.min(...steps);
      theta = theta.map((v, j) => v + step * (wanted[j] - v));
      wrong.forEach((j, k) => { if (steps[k] <= step) active[j] = false; });
      theta = theta.map((v, j) => (active[j] ? v : 0));
    }
    let best = -1, gain = ENOUGH * most;
    for (let j = 0; j < n; ++j) {
      if (active[j]) continue;
      const own = signs[j] * A[j].reduce((total, v, i) => total - v * theta[i], r[j]);
      if (own > gain) [best, gain] = [j, own];
    }
    if (best < 0) break;
    active[best] = true;
  }
  return theta;
}

function solvePositive(A, r) { // by Cholesky: A is positive definite
  const n = r.length, L = A.map((line) => [...line]), x = [...r];
  for (let j = 0; j < n; ++j) {
    for (let k = 0; k < j; ++k) L[j][j] -= L[j][k] ** 2;
    L[j][j] = Math.sqrt(Math.max(L[j][j], 1e-300));
    for (let i = j + 1; i < n; ++i) {
      for (let k = 0; k < j; ++k) L[i][j] -= L[i][k] * L[j][k];
      L[i][j] /= L[j][j];
    }
  }
  for (let i = 0; i < n; ++i) {
    for (let k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  for (let i = n - 1; i >= 0; --i) {
    for (let k = i + 1; k < n; ++k) x[i] -= L[k][i] * x[k];
    x[i] /= L[i][i];
  }
  return x;
}

function range(n) { return Array.from({ length: n }, (_, i) => i); }
