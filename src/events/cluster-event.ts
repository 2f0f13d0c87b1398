/** The kinds of events of clusters and their nodes; docs/events.md explains each. */
export const clusterEventKinds = [
  "primary_lost",
  "primary_found",
  "change_called",
  "timeline_back",
  "claims_conflict",
  "claims_resolved",
  "stray_primary",
  "stray_ended",
  "system_conflict",
  "system_resolved",
  "detached",
  "diverged",
  "stalled",
  "attached",
  "node_down",
  "node_up",
  "companion_down",
  "companion_up",
  "pool_empty",
  "pool_filled",
  "degraded",
  "restored",
  "blind",
  "blind_ended",
  "paused",
  "resumed",
  "failsafe",
  "failsafe_ended",
  "wedged",
  "wedged_ended",
  "dcs_unreachable",
  "dcs_reachable",
  "dcs_lost",
  "dcs_restored",
  "dcs_distrusted",
  "dcs_trusted",
  "address_disputed",
  "address_settled",
  "address_unlisted",
  "address_listed",
  "routes_differ",
  "routes_agree",
  "drained",
  "undrained",
  "distrusted",
  "trusted",
  "switchover_ended",
  "pauses_taken_over",
  "pauses_lifted",
  "node_joined",
  "node_left",
] as const;

/** The kinds of events of rolecall itself. */
export const processEventKinds = [
  "started",
  "stopped",
  "reload_refused",
  "reload_applied",
  "late_here",
  "on_time",
] as const;

export const eventKinds = [...clusterEventKinds, ...processEventKinds] as const;

export type EventKind = (typeof eventKinds)[number];

/** Severities, the lowest first. */
export const eventSeverities = ["info", "warning", "error"] as const;

export type EventSeverity = (typeof eventSeverities)[number];

/** An event: something that happened to a cluster, a node or rolecall itself, and that a person on call wants to know. */
export interface ClusterEvent {
  /** `EPOCH.N`: the start of the process in ms since the epoch, and a number that rises by one with each event. */
  readonly id: string;
  /** When it happened, in ms since the epoch (wall clock). */
  readonly at: number;
  readonly kind: EventKind;
  readonly severity: EventSeverity;
  /** `null`: it is about rolecall itself, whatever it monitors. */
  readonly cluster: string | null;
  /** The node that it is about, or `null` for the whole cluster. */
  readonly node: string | null;
  /** One sentence for people, with the figures: "pg1 is the new primary of demo after 18.2 s without one". */
  readonly message: string;
  /** Why, if rolecall knows: "pg2 refuses connections". */
  readonly cause: string | null;
  /** The figures and names of the message: `{ without_primary_ms: 18200, previous_primary: "pg2" }`. */
  readonly figures: Readonly<Record<string, string | number>>;
}

/** An event before it has an id and a time. */
export type EventDraft = Omit<ClusterEvent, "id" | "at"> & {
  /** How long ago it happened, in ms, where that takes time to be sure of. Default: 0 */
  readonly agoMs?: number;
};

/** Gives an event its id and time. @param wallMs the present instant, in ms since the epoch */
export function datedEvent({ agoMs = 0, ...draft }: EventDraft, id: string, wallMs: number): ClusterEvent {
  const { kind, severity, cluster, node, message, cause, figures } = draft;
  return { id, at: wallMs - Math.round(agoMs), severity, kind, cluster, node, message, cause, figures };
}
