import { type DrainChange, type DrainExtent, drainFields } from "../cluster/drain.ts";
import type { ClusterEvent, EventDraft, EventKind } from "./cluster-event.ts";

/** Returns the event of a drain that begins or ends. */
export function drainEvent({ kind, cluster, node, drain, endedBy }: DrainChange): EventDraft {
  const { reason, by, extent, until } = drain;
  const end = kind === "expired" ? "its time is over" : `ended${endedBy === null ? "" : ` by ${endedBy}`}`;
  const isBegun = kind === "begun";
  return {
    kind: extent === "distrust" ? (isBegun ? "distrusted" : "trusted") : isBegun ? "drained" : "undrained",
    severity: isBegun ? "warning" : "info",
    cluster,
    node,
    message: isBegun
      ? `${node} of ${cluster} is ${begunTexts[extent]} until ${until}: ${reason}`
      : `${node} of ${cluster} is no longer ${extent === "distrust" ? "distrusted" : "drained"}: ${end}`,
    cause: reason,
    figures: { until, routes: extent === "replica" ? "replica" : "all", ...(by === null ? {} : { by }) },
  };
}

const begunTexts: Readonly<Record<DrainExtent, string>> = {
  replica: "drained",
  all: "drained from all routes",
  distrust: "distrusted, and what it states counts for nothing,",
};

/** The audit fields of a drain's log line: what, by whom, until when. */
export function drainAudit({ kind, drain, endedBy }: DrainChange): object {
  return { audit: true, ...drainFields(drain), ...(kind === "ended" ? { ended_by: endedBy } : {}) };
}

/** What begins or ends: one process of rolecall, for each cluster that it monitors. */
interface Service {
  readonly cluster: string;
  readonly version: string;
}

/**
 * The event of a process that begins to monitor a cluster.
 * @param known the events of earlier processes, oldest first: they show whether the last one was stopped
 */
export function startedEvent({ cluster, version }: Service, known: readonly ClusterEvent[]): EventDraft {
  const last = known.findLast((event) => event.cluster === cluster && isService(event.kind));
  const cause = last?.kind === "started" ? "the process before it ended without being stopped" : null;
  const severity = cause === null ? "info" : "warning";
  const message = `rolecall ${version} started to monitor ${cluster}${cause === null ? "" : `: ${cause}`}`;
  return { kind: "started", severity, cluster, node: null, message, cause, figures: { version } };
}

/** The event of a process that no longer monitors a cluster because it stops. */
export function stoppedEvent({ cluster, version }: Service): EventDraft {
  const message = `rolecall ${version} stopped: ${cluster} is not monitored until it starts again`;
  return { kind: "stopped", severity: "info", cluster, node: null, message, cause: null, figures: { version } };
}

function isService(kind: EventKind): boolean {
  return kind === "started" || kind === "stopped";
}
