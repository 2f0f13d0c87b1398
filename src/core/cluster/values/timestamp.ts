/** An instant that a person entered. */
export interface Instant {
  /** ms since the epoch. */
  readonly atMs: number;
  /** Whether the text had a time zone. Without one `atMs` is in UTC, and the time is ambiguous. */
  readonly hasZone: boolean;
}

const pattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]((?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * Parses ISO 8601 as management calls use it: `2026-11-21T06:53+01`, `2026-11-21 06:53:47.25Z`. Letters may be in lower
 * case (RFC 3339, 5.6). Returns `undefined` if invalid, also for a day that its month does not have.
 */
export function parseInstant(text: string): Instant | undefined {
  const match = pattern.exec(text.trim());
  if (match === null) return undefined;
  const [, day = "", time = "00:00", zone] = match;
  // Date.parse takes 31 February for 3 March.
  const [year = 0, month = 0] = day.split("-").map(Number);
  if (Date.parse(`${day}T00:00Z`) > Date.UTC(year, month, 0)) return undefined;
  const atMs = Date.parse(`${day}T${time}${zone === undefined || /z/i.test(zone) ? "Z" : fullZone(zone)}`);
  return Number.isNaN(atMs) ? undefined : { atMs, hasZone: zone !== undefined };
}

/** Expands `+01` and `+0130` to `+01:00` and `+01:30`. */
function fullZone(zone: string): string {
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
