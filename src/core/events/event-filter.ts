import { isService } from "./announced-events.ts";
import { eventSeverities, type ClusterEvent, type EventSeverity } from "./cluster-event.ts";

/** Which events are wanted. `null`: any. Times in ms since the epoch, both included. */
export interface EventFilter {
  readonly cluster: string | null;
  readonly node: string | null;
  readonly kinds: readonly string[] | null;
  /** Events of this severity and those above it. */
  readonly severity: EventSeverity | null;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Whether a listener shows an event. One that is bound to a cluster shows when rolecall ran, and not what is wrong with
 * its configuration, which other clusters may have.
 * @param cluster the cluster that it is bound to; `null`: none
 */
export function isEventShown(event: ClusterEvent, cluster: string | null): boolean {
  return cluster === null || event.cluster === cluster || (event.cluster === null && isService(event.kind));
}

/** Whether an event is wanted. An event of rolecall itself belongs to all clusters. */
export function isEventWanted(event: ClusterEvent, filter: EventFilter): boolean {
  const { cluster, node, kinds, severity, sinceMs, untilMs } = filter;
  if (event.at < sinceMs || event.at > untilMs) return false;
  if (cluster !== null && event.cluster !== null && event.cluster !== cluster) return false;
  if (node !== null && event.node !== node) return false;
  if (kinds !== null && !kinds.includes(event.kind)) return false;
  return severity === null || eventSeverities.indexOf(event.severity) >= eventSeverities.indexOf(severity);
}
