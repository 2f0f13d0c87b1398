import { type ConditionKind, foundEnds, lossEnds, orderEnds } from "../health/conditions/event-kinds.ts";

/**
 * The kinds of events that features bring. A feature adds its own by declaration merging, beside its conditions:
 * `declare module ".../events/cluster-event.ts" { interface FeatureEventKinds { readonly audit: "routes_differ" } }`.
 */
export interface FeatureEventKinds {}

/** Kinds of events that begin and end no condition. */
const changesOfPrimary = ["change_called", "timeline_back"] as const;
const otherChanges = ["node_joined", "node_left"] as const;

/** The kinds of events of rolecall itself. */
export const processEventKinds = [
  "started",
  "stopped",
  "reload_refused",
  "reload_applied",
  "late_here",
  "on_time",
] as const;

export type EventKind =
  | ConditionKind
  | FeatureEventKinds[keyof FeatureEventKinds]
  | (typeof changesOfPrimary)[number]
  | (typeof otherChanges)[number]
  | (typeof processEventKinds)[number];

/** What ends the conditions that some kinds of events begin. */
type Ends = { readonly [begins in EventKind]?: EventKind };

/**
 * The kinds of events of clusters and their nodes, in the order of references; docs/events.md explains each.
 * @param ofFeatures what ends the conditions that features bring
 * @param changes the other kinds that features bring
 */
export function clusterEventKindsOf(ofFeatures: Ends, changes: readonly EventKind[]): readonly EventKind[] {
  const found = [...kindsOf(foundEnds), ...kindsOf(ofFeatures)];
  return [
    ...kindsOf(lossEnds),
    ...changesOfPrimary,
    // One end of several conditions follows the last of them.
    ...found.filter((kind, at) => found.lastIndexOf(kind) === at),
    ...kindsOf(orderEnds),
    ...changes,
    ...otherChanges,
  ];
}

/** Each beginning with its end. */
function kindsOf<Begins extends EventKind>(ends: {
  readonly [begins in Begins]?: EventKind;
}): readonly (Begins | EventKind)[] {
  const kinds: (Begins | EventKind)[] = [];
  for (const begins in ends) {
    const end = ends[begins];
    kinds.push(begins, ...(end === undefined ? [] : [end]));
  }
  return kinds;
}

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
