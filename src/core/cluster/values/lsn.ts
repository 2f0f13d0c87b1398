/**
 * Parses a WAL position in PostgreSQL's `X/X` form, such as `0/3000148` (pg_lsn: two hexadecimal numbers of up to 8
 * digits). A position is a byte offset and fits a number: 2^53 bytes are eight pebibytes of WAL.
 * @returns the position in bytes; `undefined` if the text is not a position
 */
export function parseLsn(text: string): number | undefined {
  const match = /^([0-9a-f]{1,8})\/([0-9a-f]{1,8})$/i.exec(text);
  if (match === null) return undefined;
  const position = Number.parseInt(match[1] ?? "", 16) * 2 ** 32 + Number.parseInt(match[2] ?? "", 16);
  return Number.isSafeInteger(position) ? position : undefined;
}

/** Formats a position as PostgreSQL does: `formatLsn(50331976)` is `0/3000148`. */
export function formatLsn(position: number): string {
  const high = Math.floor(position / 2 ** 32);
  return `${high.toString(16).toUpperCase()}/${(position - high * 2 ** 32).toString(16).toUpperCase()}`;
}
