/** Formats an instant as in the status document: `2026-11-21 05:52:03.640000+00:00`. */
export function formatStatusTime(epochMs: number): string {
  return formatHistoryTime(epochMs).replace("T", " ");
}

/** Formats an instant as in `/history` of a node: `2026-11-21T05:53:54.103000+00:00`. */
export function formatHistoryTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace("Z", "000+00:00");
}

/** Formats an instant as in a schedule: `2026-11-21T06:53:47+00:00`, with a fraction only if it has one. */
export function formatScheduleTime(epochMs: number): string {
  return epochMs % 1000 === 0 ? new Date(epochMs).toISOString().replace(".000Z", "+00:00") : formatHistoryTime(epochMs);
}

/** The parsed schedule of a management call: the instant, or the status and text of the error. */
export type Schedule =
  | { readonly kind: "at"; readonly atMs: number }
  | { readonly kind: "invalid"; readonly status: number; readonly text: string };

const isoTime = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/;

/**
 * Parses the time of a scheduled action: ISO 8601 with a time zone, in the future. The status is 422 for an invalid or
 * past time, and 400 for a missing zone (Patroni 4.1.4 api.py, parse_schedule).
 */
export function parseSchedule(value: unknown, action: string, nowMs: number): Schedule {
  const match = typeof value === "string" ? isoTime.exec(value.trim()) : null;
  const unreadable = {
    kind: "invalid",
    status: 422,
    text: `Unable to parse scheduled timestamp. It should be in an unambiguous format, e.g. ISO 8601`,
  } as const;
  if (match === null) return unreadable;
  const zone = match[1];
  const atMs = Date.parse(zone === undefined ? `${match[0].replace(" ", "T")}Z` : normalized(match[0], zone));
  if (Number.isNaN(atMs)) return unreadable;
  if (zone === undefined)
    return { kind: "invalid", status: 400, text: `Timezone information is mandatory for the scheduled ${action}` };
  if (atMs < nowMs) return { kind: "invalid", status: 422, text: `Cannot schedule ${action} in the past` };
  return { kind: "at", atMs };
}

/** Converts `2026-11-21 06:53+01` to the form that JavaScript parses: `2026-11-21T06:53+01:00`. */
function normalized(text: string, zone: string): string {
  const time = text
    .slice(0, text.length - zone.length)
    .trim()
    .replace(" ", "T");
  const clock = time.includes("T") ? time : `${time}T00:00`;
  if (zone === "Z") return `${clock}Z`;
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  return `${clock}${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
