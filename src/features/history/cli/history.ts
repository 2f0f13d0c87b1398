import { eventSeverities } from "../../../core/events/cluster-event.ts";
import { setTimeout as pause } from "node:timers/promises";
import { splitGivenName } from "../../../core/command/client/node-name.ts";
import { fetchPastEvents, readPastEvents, type PastEvents, type PastEventsQuery } from "./past-events.ts";
import { parsePastTime } from "../../../core/command/client/past-time.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { eventTableHead, eventTableRows, layoutOf, type PrintedEvent } from "./event-table.ts";
import { formatZonedTime } from "../../../core/command/output/local-time.ts";

/** Interval of the requests of --follow, in ms. */
const followMs = 2_000;
/**
 * Each request of --follow asks for the events since so long before the last response, in ms, so that none is missed
 * when the clock of the server is set.
 */
const overlapMs = 300_000;
/** The most ids of printed events that are remembered. */
const knownMax = 10_000;
/** As many events as one response may have. */
const limitMax = 1_000;

/** `rolecall history`: prints what happened, from a running rolecall or from the files of its history. */
export async function showHistory(context: CommandContext): Promise<void> {
  const { args, format, result, signal } = context;
  const query = queryOf(context);
  const directory = args.text("directory");
  const follows = args.has("follow");
  if (follows && format === "json")
    throw new CommandError("RC001", "--follow cannot be used with --format json, which writes one document");
  if (follows && directory !== null)
    throw new CommandError(
      "RC001",
      "--follow cannot be used with --directory: only a running rolecall can be followed",
    );
  if (follows && args.text("until") !== null)
    throw new CommandError("RC001", "--follow cannot be used with --until, which names a time in the past");
  const { before, past } = await pastOf(context, query, directory).catch((error: unknown) => {
    if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
    throw error;
  });
  result.cover("events", "complete", { detail: past.source });
  result.data = documentOf(past);
  if (past.events.length > 0 || follows) printTable(context, past);
  if (follows) await follow(context, { before, shown: past.events, query });
  else await printNotes(context, past, query);
}

/**
 * Reads the events to print (`past`). With --follow it first reads the last events of any kind (`before`): what
 * happened before the command is never printed as new, even if the query leaves it out.
 */
async function pastOf(
  context: CommandContext,
  query: PastEventsQuery,
  directory: string | null,
): Promise<{ readonly before: readonly PrintedEvent[]; readonly past: PastEvents }> {
  if (directory !== null) return { before: [], past: await readPastEvents(context, directory, query) };
  const before = context.args.has("follow") ? (await fetchLatest(context, query, 2 * overlapMs)).events : [];
  return { before, past: await fetchPastEvents(context, query) };
}

/** Fetches the last events by the clock of the server: that of this machine may differ. */
function fetchLatest(context: CommandContext, query: PastEventsQuery, agoMs: number): Promise<PastEvents> {
  return fetchPastEvents(context, { ...query, untilMs: null, limit: limitMax }, agoMs);
}

function queryOf({ args }: CommandContext): PastEventsQuery {
  const nowMs = Date.now();
  const { cluster, node } = splitGivenName({ cluster: args.text("cluster"), node: args.text("node") });
  const since = args.text("since");
  const until = args.text("until");
  const sinceMs = since === null ? null : parsePastTime("since", since, nowMs);
  const untilMs = until === null ? null : parsePastTime("until", until, nowMs);
  if (sinceMs !== null && untilMs !== null && sinceMs > untilMs)
    throw new CommandError("RC001", `--until must not be before --since, got ${JSON.stringify(until)}`);
  const severity = eventSeverities.find((known) => known === args.text("severity")) ?? null;
  const limit = args.integer("limit", 100, [1, limitMax]);
  return { cluster, node, kinds: args.list("kind"), severity, sinceMs, untilMs, limit };
}

function documentOf({ source, oldestMs, hasMore, isIncomplete, events }: PastEvents): object {
  return {
    by: source,
    oldest: oldestMs === null ? null : new Date(oldestMs).toISOString(),
    more: hasMore,
    ...(isIncomplete ? { incomplete: true } : {}),
    events: events.map(({ atMs, ...event }) => ({ ...event, at: new Date(atMs).toISOString() })),
  };
}

function printTable({ print, io, style }: CommandContext, { events }: PastEvents): void {
  const layout = layoutOf(events, widthOf(io));
  print(eventTableHead(layout, Date.now(), style) + eventTableRows(events, layout, style));
}

/** Lines in a pipe or file are as long as needed, so that grep finds whole events. */
function widthOf({ stdout }: CommandContext["io"]): number {
  return stdout.isTerminal ? stdout.columns() : Infinity;
}

/** Notes about what is not shown go to stderr: stdout is only the table. */
async function printNotes(
  { format, io, print, style }: CommandContext,
  { events, hasMore, isIncomplete, oldestMs }: PastEvents,
  { sinceMs, limit }: PastEventsQuery,
): Promise<void> {
  if (events.length === 0) {
    const known = oldestMs === null ? "" : ` The oldest known event is of ${formatZonedTime(oldestMs)}.`;
    print(`no such event${sinceMs === null ? "" : ` since ${formatZonedTime(sinceMs)}`}.${known}\n`);
  }
  if (isIncomplete && format === "text")
    await io.stderr.write(
      style.dim(
        "Older events may be missing: the history is too large to be read at once. See them with --until TIME.\n",
      ),
    );
  if (hasMore && format === "text")
    await io.stderr.write(
      style.dim(`Only the newest ${limit} events are shown: see older ones with --limit N or --until TIME.\n`),
    );
}

/** Prints new events, identified by their ids, until a signal ends the command. Retries while the server is silent. */
async function follow(
  context: CommandContext,
  { before, shown, query }: Record<"before" | "shown", readonly PrintedEvent[]> & { readonly query: PastEventsQuery },
): Promise<void> {
  const { signal, print, io, style } = context;
  const known = new Set([...before, ...shown].map(({ id }) => id));
  let answeredAtMs = performance.now();
  let isLost = false;
  for (;;) {
    await pause(followMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const askedAtMs = performance.now();
    const next = await fetchLatest(context, query, overlapMs + askedAtMs - answeredAtMs).catch((error: unknown) =>
      error instanceof CommandError ? error : Promise.reject(error),
    );
    if (signal.aborted) return;
    if (next instanceof CommandError) {
      if (!isLost) await io.stderr.write(style.dim(`${next.message}; trying again\n`));
      isLost = true;
      continue;
    }
    isLost = false;
    answeredAtMs = askedAtMs;
    const fresh = next.events.filter(({ id }) => !known.has(id));
    print(eventTableRows(fresh, layoutOf([...shown, ...fresh], widthOf(io)), style));
    remember(known, next.events);
  }
}

/** Keeps the ids of the newest events. */
function remember(known: Set<string>, events: readonly PrintedEvent[]): void {
  for (const { id } of events) {
    known.delete(id);
    known.add(id);
  }
  for (const id of known) if (known.size > knownMax) known.delete(id);
}
