import { type DrainChange, type DrainExtent, drainLogFields } from "../cluster/drain.ts";
import type { CalledChange } from "../cluster/management-call.ts";
import type { ClusterEvent, EventDraft, EventKind } from "./cluster-event.ts";
import { countText, spanText } from "../health/wording.ts";

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

/** The event of a call that is forwarded and makes another node the primary. */
export function calledEvent({ cluster, call, from, to, by }: CalledChange): EventDraft {
  const nodes = `${from === null ? "" : ` from ${from}`}${to === null ? "" : ` to ${to}`}`;
  return {
    kind: "change_called",
    severity: "info",
    cluster,
    node: to,
    message: `a ${call} of ${cluster}${nodes} was called through rolecall${by === null ? "" : ` by ${by}`}`,
    cause: null,
    figures: {
      call,
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
      ...(by === null ? {} : { by }),
    },
  };
}

const begunTexts: Readonly<Record<DrainExtent, string>> = {
  replica: "drained",
  all: "drained from all routes",
  distrust: "distrusted, and what it states counts for nothing,",
};

/** The audit fields of a drain's log line: what, by whom, until when. */
export function drainAudit({ kind, drain, endedBy }: DrainChange): object {
  return { audit: true, ...drainLogFields(drain), ...(kind === "ended" ? { ended_by: endedBy } : {}) };
}

/** What begins or ends: one process of rolecall, and the clusters that it monitors. */
interface Service {
  readonly clusters: readonly string[];
  readonly version: string;
}

/**
 * The event of a process that begins to monitor its clusters.
 * @param known the events of earlier processes, oldest first: they show whether the last one was stopped
 */
export function startedEvent({ clusters, version }: Service, known: readonly ClusterEvent[]): EventDraft {
  const last = known.findLast(({ kind }) => isService(kind));
  const cause = last?.kind === "started" ? "the process before it ended without being stopped" : null;
  const severity = cause === null ? "info" : "warning";
  const message = `rolecall ${version} started to monitor ${monitored(clusters)}${cause === null ? "" : `: ${cause}`}`;
  return processEvent({ kind: "started", severity, message, cause, figures: { version, clusters: clusters.length } });
}

/** The event of a process that no longer monitors its clusters because it stops. */
export function stoppedEvent({ clusters, version }: Service): EventDraft {
  const are = clusters.length === 1 ? "is" : "are";
  const message = `rolecall ${version} stopped: ${monitored(clusters)} ${are} not monitored until it starts again`;
  const figures = { version, clusters: clusters.length };
  return processEvent({ kind: "stopped", severity: "info", message, cause: null, figures });
}

/** A configuration that was refused, and the one that stays in force. Times in ms since the epoch. */
export interface RefusedConfig {
  readonly atMs: number;
  readonly problems: number;
  /** The first problem, with its place. */
  readonly first: string;
}

/** The event of a reload that was refused. @param loadedAtMs when the configuration in force was loaded */
export function reloadRefusedEvent({ problems, first }: RefusedConfig, loadedAtMs: number): EventDraft {
  const loadedAt = new Date(loadedAtMs).toISOString();
  const count = countText(problems, "problem");
  return processEvent({
    kind: "reload_refused",
    severity: "error",
    message: `rolecall refused to reload its configuration, which has ${count}, and runs that of ${loadedAt}: ${first}`,
    cause: first,
    figures: { problems, loaded_at: loadedAt },
  });
}

/** The event of a reload that was applied. @param refusedForMs how long reloads were refused before, or `null` */
export function reloadAppliedEvent(clusters: readonly string[], refusedForMs: number | null): EventDraft {
  const after = refusedForMs === null ? "" : ` after ${spanText(refusedForMs)} with one that was refused`;
  return processEvent({
    kind: "reload_applied",
    severity: "info",
    message: `rolecall reloaded its configuration${after}: it monitors ${monitored(clusters)}`,
    cause: null,
    figures: {
      clusters: clusters.length,
      ...(refusedForMs === null ? {} : { duration_ms: Math.round(refusedForMs) }),
    },
  });
}

/** The event that this process does not ask nodes in time, or does again. @param lateForMs for how long it did not */
export function latenessEvent(lateForMs: number | null): EventDraft {
  if (lateForMs === null)
    return processEvent({
      kind: "late_here",
      severity: "error",
      message: "rolecall is late: it does not get to ask nodes in time, so that balancers are left as they are",
      cause: "this machine or this process is too busy: the nodes have missed no answer",
      figures: {},
    });
  return processEvent({
    kind: "on_time",
    severity: "info",
    message: `rolecall asks nodes in time again, after ${spanText(lateForMs)}`,
    cause: null,
    figures: { late_ms: Math.round(lateForMs) },
  });
}

function processEvent(event: Omit<EventDraft, "cluster" | "node">): EventDraft {
  return { ...event, cluster: null, node: null };
}

function monitored([first, ...rest]: readonly string[]): string {
  if (first === undefined) return "no cluster";
  return rest.length === 0 ? first : countText(rest.length + 1, "cluster");
}

/** Whether an event begins or ends the process, and so the time of which rolecall knows anything. */
export function isService(kind: EventKind): boolean {
  return kind === "started" || kind === "stopped";
}
