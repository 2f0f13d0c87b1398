import { parseDuration } from "../../cluster/values/duration.ts";
import { parseInstant } from "../../cluster/values/timestamp.ts";
import { eventSeverities, type EventKind } from "../../events/cluster-event.ts";
import type { EventFilter } from "../../events/event-filter.ts";
import type { ParseError } from "../../health/check.ts";

/** How many events one page shows: by default, and at most. */
const limitDefault = 100;
export const eventLimitMax = 1_000;

/** Which events a page shows. */
export interface EventQuery extends EventFilter {
  /** At most this many: the newest. */
  readonly limit: number;
}

const parameters = ["cluster", "node", "kind", "severity", "since", "until", "limit"];
const instantAllowed = "an instant such as 2026-11-21T03:12:00Z, or a duration before now such as 15min";

/**
 * Parses `cluster=demo&node=pg1&kind=primary_lost,primary_found&severity=warning&since=1h&until=…&limit=50`.
 * @param eventKinds the kinds that there are, in the order in which they are listed
 * @param nowWallMs the present instant, in ms since the epoch
 * @returns the query, or the first parameter that is invalid
 */
export function parseEventQuery(
  query: URLSearchParams,
  eventKinds: readonly EventKind[],
  nowWallMs: number,
): EventQuery | ParseError {
  for (const name of query.keys())
    if (!parameters.includes(name)) return problem("query", name, `one of the parameters ${parameters.join(", ")}`);
  const kinds = parseKinds(query.get("kind"), eventKinds);
  if (kinds !== null && "subject" in kinds) return kinds;
  const severityText = query.get("severity");
  const severity = eventSeverities.find((known) => known === severityText) ?? null;
  if (severityText !== null && severity === null)
    return problem("parameter severity", severityText, `one of ${eventSeverities.join(", ")}`);
  const limitText = query.get("limit") ?? String(limitDefault);
  const limit = /^\d{1,6}$/.test(limitText) ? Number(limitText) : 0;
  if (limit < 1 || limit > eventLimitMax)
    return problem("parameter limit", limitText, `a number from 1 to ${eventLimitMax}`);
  const sinceMs = instantOf(query.get("since"), nowWallMs) ?? -Infinity;
  if (Number.isNaN(sinceMs)) return problem("parameter since", query.get("since") ?? "", instantAllowed);
  const untilMs = instantOf(query.get("until"), nowWallMs) ?? Infinity;
  if (Number.isNaN(untilMs)) return problem("parameter until", query.get("until") ?? "", instantAllowed);
  if (sinceMs > untilMs)
    return problem("parameter until", query.get("until") ?? "", `not before since=${query.get("since")}`);
  return { cluster: query.get("cluster"), node: query.get("node"), kinds, severity, sinceMs, untilMs, limit };
}

function parseKinds(text: string | null, eventKinds: readonly EventKind[]): readonly EventKind[] | ParseError | null {
  if (text === null) return null;
  const wanted = text.split(",");
  const unknown = wanted.find((kind) => !eventKinds.some((known) => known === kind));
  if (unknown !== undefined) return problem("parameter kind", unknown, `one or more of ${eventKinds.join(", ")}`);
  return eventKinds.filter((kind) => wanted.includes(kind));
}

/** @returns ms since the epoch; `null` if there is no text, NaN if it is invalid */
function instantOf(text: string | null, nowWallMs: number): number | null {
  if (text === null) return null;
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return nowWallMs - agoMs;
  const instant = parseInstant(text);
  return instant?.hasZone === true ? instant.atMs : Number.NaN;
}

function problem(subject: string, value: string, allowed: string): ParseError {
  return { subject, value, allowed };
}
