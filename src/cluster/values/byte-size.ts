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
 * Parses a size as the nodes parse `lag=`: decimal, `0x` hexadecimal or `0` octal, a fraction with a unit, spaces
 * around and before the unit; units B, kB, MB, GB, TB in powers of 1024, here in any case (Patroni's utils.parse_int).
 * @returns whole bytes, or `undefined` for what nodes cannot parse, for negative sizes and for sizes past 2^53
 */
export function parseByteSize(text: string): number | undefined {
  const [amount, unit] = split(text.trim());
  const factor = factors.get(unit.trim().toLowerCase());
  if (amount === undefined || factor === undefined) return undefined;
  const bytes = Math.round(amount * factor);
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : undefined;
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

function split(text: string): [number | undefined, string] {
  const hexadecimal = /^\+?0x([0-9a-f]+)/i.exec(text);
  if (hexadecimal !== null) return [Number.parseInt(hexadecimal[1] ?? "", 16), text.slice(hexadecimal[0].length)];
  const octal = /^\+?0([0-7]+)(?![.\d])/.exec(text);
  if (octal !== null) return [Number.parseInt(octal[1] ?? "", 8), text.slice(octal[0].length)];
  const decimal = /^\+?\d*\.?\d+(?:e[-+]?\d+)?/i.exec(text);
  if (decimal !== null) return [Number(decimal[0]), text.slice(decimal[0].length)];
  return [undefined, text];
}
