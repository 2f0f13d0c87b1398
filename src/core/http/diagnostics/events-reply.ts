import { oneOf } from "../../cluster/values/one-of.ts";
import type { ClusterEvent } from "../../events/cluster-event.ts";
import { isEventShown, isEventWanted } from "../../events/event-filter.ts";
import type { StoredEvents } from "../../events/stored/past.ts";
import type { ParseError } from "../../health/check.ts";
import { badRequest, type Reply } from "../message/reply.ts";
import { renderSliced, type RenderingContext } from "../pages/rendering.ts";
import type { ListenerScope } from "../node-api/target-node.ts";
import type { DiagnosticsSources } from "./diagnostics-sources.ts";
import { parseEventQuery, type EventQuery } from "./event-query.ts";

/** A request for events: what its path names, and its query. */
export interface EventsRequest {
  readonly cluster: string | null;
  readonly node: string | null;
  readonly query: string;
}

type EventsSources = Pick<DiagnosticsSources, "events" | "eventKinds" | "storedEvents" | "snapshot" | "wall">;

/**
 * Answers `/events` with the newest wanted events, the newest last. `oldest` is the time of the oldest event that is
 * known, of any kind; `more` says whether older wanted ones were left out by `limit`. `incomplete` is there, and true,
 * if the history on disk was too large to be read as far back as wanted.
 */
export async function eventsReply(
  request: EventsRequest,
  scope: ListenerScope,
  { sources, rendering }: { readonly sources: EventsSources; readonly rendering: RenderingContext },
): Promise<Reply | null> {
  const params = paramsOf(request);
  if ("subject" in params) return badRequest(params);
  const query = parseEventQuery(params, sources.eventKinds, sources.wall());
  if ("subject" in query) return badRequest(query);
  const known = sources.events().filter((event) => isEventShown(event, scope.cluster));
  const unknown = unknownName(query.cluster, query.node, { scope, known, sources });
  if (unknown !== null) return badRequest(unknown);
  const recent = known.filter((event) => isEventWanted(event, query));
  const { events: older, isComplete } =
    recent.length > query.limit ? nothing : await storedBefore(known, query, { scope, sources, rendering });
  const wanted = [...older, ...recent];
  const page = {
    events: wanted.slice(-query.limit),
    oldest: older[0]?.at ?? known[0]?.at ?? null,
    hasMore: wanted.length > query.limit,
    isComplete,
  };
  return renderSliced(eventPieces(page), rendering, ["Content-Type", "application/json"]);
}

const nothing: StoredEvents = { events: [], isComplete: true };

/** The wanted events on disk that happened before the oldest one in memory. */
async function storedBefore(
  known: readonly ClusterEvent[],
  query: EventQuery,
  context: { readonly scope: ListenerScope; readonly sources: EventsSources; readonly rendering: RenderingContext },
): Promise<StoredEvents> {
  const { scope, sources, rendering } = context;
  const untilMs = Math.min(query.untilMs, known[0]?.at ?? Infinity);
  if (query.sinceMs > untilMs) return nothing;
  const ids = new Set(known.map(({ id }) => id));
  const matches = (event: ClusterEvent): boolean =>
    !ids.has(event.id) && isEventShown(event, scope.cluster) && isEventWanted(event, query);
  return sources.storedEvents({ sinceMs: query.sinceMs, untilMs, matches, limit: query.limit + 1 }, rendering);
}

/** The query, completed by what the path names. `node=demo/pg2` names the cluster too, as on the other pages. */
function paramsOf({ cluster, node, query }: EventsRequest): URLSearchParams | ParseError {
  const params = new URLSearchParams(query);
  const full = params.get("node");
  const slash = full?.lastIndexOf("/") ?? -1;
  if (full !== null && slash >= 0 && !params.has("cluster")) {
    params.set("cluster", full.slice(0, slash));
    params.set("node", full.slice(slash + 1));
  }
  for (const [name, inPath] of [
    ["cluster", cluster],
    ["node", node],
  ] as const) {
    const value = params.get(name);
    if (inPath !== null && value !== null && value !== inPath)
      return { subject: `parameter ${name}`, value, allowed: `${inPath}, as the path says` };
    if (inPath !== null) params.set(name, inPath);
  }
  return params;
}

/** A misspelt cluster or node must not look like one where nothing happened. Nodes that left still have events. */
function unknownName(
  cluster: string | null,
  node: string | null,
  context: { readonly scope: ListenerScope; readonly known: readonly ClusterEvent[]; readonly sources: EventsSources },
): ParseError | null {
  const { scope, known, sources } = context;
  const clusters = scope.cluster === null ? scope.clusters : [scope.cluster];
  if (cluster !== null && !clusters.includes(cluster) && !known.some((event) => event.cluster === cluster))
    return { subject: "parameter cluster", value: cluster, allowed: oneOf(clusters, "cluster") };
  if (node === null || known.some((event) => event.node === node)) return null;
  const names = sources
    .snapshot()
    .clusters.filter(({ name }) => clusters.includes(name) && (cluster === null || name === cluster))
    .flatMap(({ index }) => [...index.keys()]);
  return names.includes(node) ? null : { subject: "parameter node", value: node, allowed: oneOf(names, "node") };
}

function* eventPieces(page: {
  readonly events: readonly ClusterEvent[];
  readonly oldest: number | null;
  readonly hasMore: boolean;
  readonly isComplete: boolean;
}): Generator<string> {
  const oldest = page.oldest === null ? null : instantText(page.oldest);
  const head = { oldest, more: page.hasMore, ...(page.isComplete ? {} : { incomplete: true }) };
  yield `${JSON.stringify(head).slice(0, -1)},"events":[`;
  let separator = "";
  for (const event of page.events) {
    yield `${separator}${JSON.stringify({ ...event, at: instantText(event.at) })}`;
    separator = ",";
  }
  yield "]}\n";
}

/** RFC 3339 in UTC with milliseconds. */
function instantText(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
