import type { ClusterEvent, EventDraft, EventKind } from "./cluster-event.ts";

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
