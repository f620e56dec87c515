function each(size, value) {
  const found = new Array(size);
  for (let j = 0; j < size; ++j) found[j] = value(j);
  return found;
}

function sum(count, value, start) {
  for (let i = 0; i < count; ++i) start += value(i);
  return start;
}

function number(value, required) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    if (!required) return NaN;
    value = NaN;
  }
  const found = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  if (!Number.isFinite(found)) throw new RangeError(`A row must be finite numbers, got ${value}.`);
  return Math.min(Math.max(found, -1e150), 1e150); // whose squares are numbers
}

function word(value) { // numbers stay numbers, which are keys too
  if (value === undefined || Number.isNaN(value)) return null;
  return value === null || typeof value === "number" ? value : String(value);
}

function days(value, order) {
  if (value === null || value === undefined || Number.isNaN(value)) return NaN;
  if (value instanceof Date) return value.getTime() / 864e5;
  if (typeof value === "number") return value;
  const clocks = "[T ](\\d+)(?::(\\d+)(?::([\\d.]+))?)?\\s*(Z|[+-]\\d\\d:?\\d\\d)?";
  const parts = new RegExp(`^\\s*(\\d+)[-/.](\\d+)[-/.](\\d+)(?:${clocks})?\\s*$`).exec(value);
  const [y, m, d] = parts ? [..."ymd"].map((part) => Number(parts[1 + order.indexOf(part)])) : [0, 0, 0];
  const date = new Date(0);
  date.setUTCFullYear(y, m - 1, d);
  if (date.getUTCMonth() !== m - 1 || date.getUTCDate() !== d) {
    throw new RangeError(`A date must be year, month and day in the order ${order}, got ${value}.`);
  }
  const zone = /([+-])(\d\d):?(\d\d)/.exec(parts[7]);
  const shift = zone ? Number(zone[1] + 1) * (3600 * Number(zone[2]) + 60 * Number(zone[3])) : 0;
  const clock = 3600 * Number(parts[4] ?? 0) + 60 * Number(parts[5] ?? 0) + Number(parts[6] ?? 0);
  return date.getTime() / 864e5 + (clock - shift) / 86400;
}
