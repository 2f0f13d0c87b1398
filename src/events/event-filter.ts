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

/** Whether an event is wanted. */
export function isEventWanted(event: ClusterEvent, filter: EventFilter): boolean {
  const { cluster, node, kinds, severity, sinceMs, untilMs } = filter;
  if (event.at < sinceMs || event.at > untilMs) return false;
  if (cluster !== null && event.cluster !== cluster) return false;
  if (node !== null && event.node !== node) return false;
  if (kinds !== null && !kinds.includes(event.kind)) return false;
  return severity === null || eventSeverities.indexOf(event.severity) >= eventSeverities.indexOf(severity);
}
