const bytesIn = new Map([
  ["B", 1],
  ["kB", 2 ** 10],
  ["MB", 2 ** 20],
  ["GB", 2 ** 30],
  ["TB", 2 ** 40],
]);
const secondsIn = new Map([
  ["us", 1e-6],
  ["ms", 1e-3],
  ["s", 1],
  ["min", 60],
  ["h", 3600],
  ["d", 86_400],
]);

/**
 * Parses a number of bytes as real nodes do, after PostgreSQL's strtol: `1048576`, `16kB`, `16 kB`, `1.5MB`, `0x400`,
 * `017`. Units are case-sensitive. Returns `undefined` for anything else, which real nodes treat as "no limit"
 * (Patroni 4.1.4 utils.py, parse_int).
 */
export function parseSize(text: string): number | undefined {
  return parseQuantity(text, bytesIn);
}

/** Parses a number of seconds: `30`, `500 ms`, `2min`. Returns `undefined` for anything else. */
export function parseSeconds(text: string): number | undefined {
  return parseQuantity(text, secondsIn);
}

function parseQuantity(text: string, units: ReadonlyMap<string, number>): number | undefined {
  const trimmed = text.trim();
  const whole = /^([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]+|\d+)(?![.\d]|[eE][+-]?\d)(.*)$/s.exec(trimmed);
  const real =
    whole === null ? /^([+-]?)(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(.*)$/s.exec(trimmed) : null;
  const match = whole ?? real;
  if (match === null) return undefined;
  const [, sign = "", digits = "", rest = ""] = match;
  const magnitude = real !== null || !/^0[0-7]+$/.test(digits) ? Number(digits) : Number.parseInt(digits, 8);
  const unit = rest.trim();
  const factor = unit === "" ? 1 : units.get(unit);
  if (factor === undefined) return undefined;
  return Math.round((sign === "-" ? -magnitude : magnitude) * factor);
}
