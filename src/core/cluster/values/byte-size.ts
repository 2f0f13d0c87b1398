const factors: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["b", 1],
  ["kb", 1024],
  ["mb", 1024 ** 2],
  ["gb", 1024 ** 3],
  ["tb", 1024 ** 4],
]);

/** The values that `lag=` allows, for messages. */
export const byteSizeAllowed = "a number of bytes, or a size such as 16kB, 1.5MB, 0x400, 1GB";

/**
 * Parses a size as the nodes parse `lag=` (utils.parse_int of Patroni 3.0.2 and 4.1.5): decimal, `0x` hexadecimal or
 * `0` octal, else a fraction or a power of ten; spaces around and before the unit; units B, kB, MB, GB, TB in powers of
 * 1024, here in any case. A fraction of a unit is rounded to the next smaller one. Halves are rounded to even numbers.
 * @returns whole bytes, 2^53 - 1 for more than that (no position is past it); `undefined` for what nodes cannot parse,
 *   and for negative sizes
 */
export function parseByteSize(text: string): number | undefined {
  const stripped = strip(text);
  const whole = startingInteger(stripped);
  const [amount, unit] = /^[.eE]/.test(whole[1]) ? startingReal(stripped) : whole;
  const factor = factors.get(strip(unit).toLowerCase());
  if (amount === undefined || factor === undefined) return undefined;
  const step = Math.max(1, factor / 1024);
  const bytes = roundedToEven((amount * factor) / step) * step;
  if (bytes < 0) return undefined;
  return bytes === 0 ? 0 : Math.min(bytes, Number.MAX_SAFE_INTEGER); // -0 is 0
}

/** Formats a size for people, as in the status line's phrase: `12MB`, `1.5kB`, `82B`. */
export function formatByteSize(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let amount = bytes;
  let unit = 0;
  // What rounds to 1024 is one of the next unit.
  while (amount >= 1023.5 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)}${units[unit] ?? ""}`;
}

type Split = readonly [amount: number | undefined, rest: string];

/** Patroni's utils.strtol: `08` is 0 with the rest `8`. */
function startingInteger(text: string): Split {
  const match = /^([-+]?)(?:0x([\da-fA-F]+)|(0[0-7]*)|([1-9]\d*))/.exec(text);
  if (match === null) return [undefined, text];
  const [all, sign, hexadecimal, octal, decimal = ""] = match;
  const amount =
    hexadecimal === undefined
      ? octal === undefined
        ? Number(decimal)
        : Number.parseInt(octal, 8)
      : Number.parseInt(hexadecimal, 16);
  // Python's integers have no bound.
  return [(sign === "-" ? -1 : 1) * Math.min(amount, Number.MAX_VALUE), text.slice(all.length)];
}

/** Patroni's utils.strtod. A number past the range of a double is an error of the node. */
function startingReal(text: string): Split {
  const match = /^[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?/.exec(text)?.[0];
  if (match === undefined || !Number.isFinite(Number(match))) return [undefined, text];
  return [Number(match), text.slice(match.length)];
}

/** Removes what Python's str.strip() removes. */
function strip(text: string): string {
  // oxlint-disable-next-line no-control-regex -- Python strips these control characters too
  return text.replaceAll(/^[\s\x1c-\x1f\x85]+|[\s\x1c-\x1f\x85]+$/g, (space) =>
    space.includes("\ufeff") ? space : "",
  );
}

function roundedToEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}
