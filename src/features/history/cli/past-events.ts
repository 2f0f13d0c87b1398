import { isObject, listOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { eventSeverities, type ClusterEvent, type EventSeverity } from "../../../core/events/cluster-event.ts";
import { isEventWanted, type EventFilter } from "../../../core/events/event-filter.ts";
import { readStoredEvents } from "../store/history-directory.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import type { PrintedEvent } from "./event-table.ts";
import { requireHistoryDirectory } from "./directory-option.ts";
import { replyMessage, RolecallClient } from "../../../core/command/client/rolecall-client.ts";

/** Selects past events. `null`: no restriction. Times in ms since the epoch. */
export interface PastEventsQuery {
  readonly cluster: string | null;
  readonly node: string | null;
  /** Empty: all kinds. */
  readonly kinds: readonly string[];
  /** Events of this severity and those above it. */
  readonly severity: EventSeverity | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** At most this many: the newest. */
  readonly limit: number;
}

/** Past events, and where they come from. */
export interface PastEvents {
  /** The URL of the server, or the directory of the history. */
  readonly source: string;
  /** When the oldest known event happened, in ms since the epoch; `null` if unknown. */
  readonly oldestMs: number | null;
  /** Whether the limit left out older events that the query selects. */
  readonly hasMore: boolean;
  /** Whether the history was too large to be read at once: older events of the query may be missing. */
  readonly isIncomplete: boolean;
  /** Oldest first. */
  readonly events: readonly PrintedEvent[];
}

/**
 * Fetches events from the running rolecall.
 * @param agoMs selects the events of the last `agoMs` ms before the server's present time, instead of those since
 *   `sinceMs` of the query. `null`: `sinceMs` holds
 * @throws CommandError if they cannot be fetched
 */
export async function fetchPastEvents(
  context: CommandContext,
  query: PastEventsQuery,
  agoMs: number | null = null,
): Promise<PastEvents> {
  const server = new RolecallClient(context, "admin");
  const { cluster, node, kinds, severity, sinceMs, untilMs, limit } = query;
  const params = new URLSearchParams({ limit: String(limit) });
  const since = agoMs === null ? instantText(sinceMs) : `${Math.ceil(agoMs / 1_000)}s`;
  const given = { cluster, node, severity, since, until: instantText(untilMs) };
  for (const [name, value] of Object.entries(given)) if (value !== null) params.set(name, value);
  if (kinds.length > 0) params.set("kind", kinds.join(","));
  const path = `/events?${params.toString()}`;
  const reply = await server.getPage(path);
  if (reply.status === 400) throw new CommandError("RC009", `${server.url}: ${replyMessage(reply)}`);
  const document = server.objectOf(path, reply);
  const oldest = Date.parse(String(document["oldest"]));
  return {
    source: server.url,
    oldestMs: Number.isNaN(oldest) ? null : oldest,
    hasMore: document["more"] === true,
    isIncomplete: document["incomplete"] === true,
    events: listOf(document["events"]).filter(isObject).map(readEvent),
  };
}

/**
 * Reads events from the directory of a history, whether rolecall runs or not. A damaged line gives a warning.
 * @throws CommandError (RC006) if there is no such directory, or if it has no history
 */
export async function readPastEvents(
  context: CommandContext,
  directory: string,
  query: PastEventsQuery,
): Promise<PastEvents> {
  const { path, onDamaged } = await requireHistoryDirectory(context, directory);
  const { sinceMs, untilMs, limit } = query;
  // One more than the limit shows whether there are more.
  const range = { sinceMs: sinceMs ?? -Infinity, untilMs: untilMs ?? Infinity, limit: limit + 1 };
  const filter: EventFilter = { ...query, ...range, kinds: query.kinds.length === 0 ? null : query.kinds };
  const matches = (event: ClusterEvent): boolean => isEventWanted(event, filter);
  const { events, isComplete } = await readStoredEvents(path, { ...range, matches }, onDamaged);
  return {
    source: path,
    oldestMs: null,
    hasMore: events.length > limit,
    isIncomplete: !isComplete,
    events: events.slice(-limit).map(({ at, ...event }) => ({ ...event, atMs: at })),
  };
}

function readEvent(row: JsonObject): PrintedEvent {
  const text = (key: string): string => (typeof row[key] === "string" ? row[key] : "?");
  return {
    id: text("id"),
    atMs: Date.parse(text("at")),
    kind: text("kind"),
    severity: eventSeverities.find((severity) => severity === row["severity"]) ?? "info",
    cluster: typeof row["cluster"] === "string" ? row["cluster"] : null,
    node: typeof row["node"] === "string" ? row["node"] : null,
    message: text("message"),
    cause: typeof row["cause"] === "string" ? row["cause"] : null,
    figures: isObject(row["figures"]) ? row["figures"] : {},
  };
}

function instantText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
