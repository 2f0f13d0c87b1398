import type { Condition, Found } from "../../health/conditions/condition.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { type ClusterView, viewAt } from "../../health/evidence/leadership/cluster-view.ts";
import type { AskedCheck } from "../../health/rules/asked-checks.ts";
import type { Summary } from "../../health/rules/summary.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { ClusterEvent, EventDraft, EventKind } from "../cluster-event.ts";
import type { EventFinder, FinderContext } from "../event-log.ts";
import {
  type ClusterFacts,
  type PrimaryFacts,
  type TwinFacts,
  type Visibility,
  factsOf,
  isHidden,
  isProbedSince,
  primaryOf,
} from "../../health/conditions/cluster-facts.ts";
import { KnownConditions } from "./known-conditions.ts";
import { OpenConditions } from "./open-conditions.ts";
import { hasSeenChange } from "./seen-change.ts";
import { type PrimaryMemory, noPrimaryYet, primaryEvents } from "./primary-events.ts";

/**
 * Without a change of a verdict or of the leadership, a cluster is examined again after this time, in ms: in a cluster
 * of a thousand nodes a probe ends every millisecond.
 */
const recheckMs = 100;
/** The same while nothing lasts in it that could end, and nothing changes but instants and positions. */
const quietRecheckMs = 1_000;

/**
 * How far the start of a cluster has come: its first round of probes goes on, it is not known yet what changes, or it
 * is. Instants in ms of rolecall's clock.
 */
type StartPhase =
  | { readonly kind: "first_round" }
  | { readonly kind: "settling"; readonly sinceMs: number }
  | { readonly kind: "settled" };

/** What is remembered of a cluster between two examinations. */
interface ClusterMemory {
  readonly conditions: OpenConditions;
  readonly primary: PrimaryMemory;
  members: ReadonlySet<string>;
  phase: StartPhase;
  /** The primary when the cluster was last seen clearly; `null` if it had none. */
  present: PrimaryFacts | null;
  /** The last primary before the cluster was settled: it may be lost by then. */
  firstPrimary: PrimaryFacts | null;
  /** Since when the cluster can be seen, in ms of rolecall's clock; `null` while it is hidden. */
  seenSinceMs: number | null;
  examinedAtMs: number;
  /** The state at the last call, whether it was examined or not. */
  last: ClusterState | null;
  /** Whether more than instants and positions has changed since it was examined. */
  hasNews: boolean;
}

/** What may differ from a detector of a single cluster. */
export interface DetectorOptions {
  /** Whether a cluster has no events before {@link EventDetector.endFirstRound}. */
  readonly awaitsFirstRound?: boolean;
  /** The checks with a limit for lag that balancers ask of a cluster. */
  readonly asked?: (cluster: string) => readonly AskedCheck[];
  /** What features have found of a cluster. */
  readonly ofFeatures?: (cluster: string) => readonly Found<EventKind>[];
  /** The conditions that begin and end with events. Default: those of the core */
  readonly conditions?: readonly Condition<EventKind>[];
}

/**
 * Finds the events of clusters from one state to the next. The first round of probes is no event: what it finds is the
 * state to compare with, except for trouble that is there already.
 */
export class EventDetector implements EventFinder {
  readonly #clusters = new Map<string, ClusterMemory>();
  /** How many clusters of each database system have a primary: nearly all are alone, and are compared with no other. */
  readonly #systems = new Map<string | null, number>();
  readonly #awaitsFirstRound: boolean;
  readonly #asked: (cluster: string) => readonly AskedCheck[];
  readonly #ofFeatures: (cluster: string) => readonly Found<EventKind>[];
  readonly #known: KnownConditions;

  constructor({ awaitsFirstRound = false, asked = () => [], ofFeatures = () => [], conditions }: DetectorOptions = {}) {
    this.#known = new KnownConditions(conditions);
    this.#awaitsFirstRound = awaitsFirstRound;
    this.#asked = asked;
    this.#ofFeatures = ofFeatures;
  }

  /**
   * The first round of a cluster's probes has ended. Before that, what is not known is not lost. The next state is
   * examined, however recently one was.
   */
  endFirstRound(cluster: string, nowMs: number): void {
    const memory = this.#memoryOf(cluster, nowMs);
    memory.examinedAtMs = -Infinity;
    if (memory.phase.kind === "first_round") memory.phase = { kind: "settling", sinceMs: nowMs };
  }

  /**
   * Examines a new state of a cluster. To be called for every change.
   * @param summaries the last summary of each node that was judged
   * @param context the policy, the instant in ms of rolecall's clock, and whether a verdict changed
   */
  find(
    cluster: ClusterState,
    summaries: ReadonlyMap<string, { readonly summary: Summary }>,
    { policy, nowMs, isVerdictChanged }: FinderContext,
  ): readonly EventDraft[] {
    const memory = this.#memoryOf(cluster.name, nowMs);
    const { last } = memory;
    memory.last = cluster;
    const isChanged = isVerdictChanged || last?.leadership !== cluster.leadership;
    // The same state once more: something beside it has changed.
    memory.hasNews ||= last === null || last === cluster || hasSeenChange(last, cluster);
    if (!isChanged && nowMs - memory.examinedAtMs < recheckAfterMs(memory, policy)) return [];
    memory.hasNews = false;
    memory.examinedAtMs = nowMs;
    const wasHidden = memory.seenSinceMs === null;
    const view = viewAt(cluster, policy, nowMs);
    const [visibility, primary] = [visibilityOf(memory, view), primaryOf(view)];
    if (visibility === "clear") this.#setPresent(memory, primary);
    const twins = this.#twinsOf(cluster.name, primary);
    const judged = { summaries, asked: this.#asked(cluster.name) };
    const facts = factsOf(view, judged, { visibility, primary, twins });
    const { phase } = memory;
    if (phase.kind !== "settled") {
      memory.firstPrimary = facts.primary ?? memory.firstPrimary;
      if (phase.kind === "first_round" || !isSettled(view, facts, nowMs - phase.sinceMs)) return [];
      settle(memory, facts);
    }
    // The first members of a cluster did not join it.
    if (memory.members.size === 0 && wasHidden) memory.members = namesOf(facts);
    const members = memberEvents(memory.members, facts);
    memory.members = members.members;
    return [
      ...members.events,
      ...memory.conditions.update(facts, this.#ofFeatures(cluster.name)),
      ...primaryEvents(memory.primary, facts),
    ];
  }

  /**
   * Takes over the last events of an earlier process, so that what lasts is not reported again, and its end is.
   * @param events oldest first
   * @param clock the present instant, in ms of rolecall's clock and in ms since the epoch
   */
  resume(
    events: readonly ClusterEvent[],
    { nowMs, wallMs }: { readonly nowMs: number; readonly wallMs: number },
  ): void {
    for (const event of events) {
      if (event.cluster === null) continue;
      const sinceMs = nowMs - Math.max(0, wallMs - event.at);
      const { conditions, primary, phase } = this.#memoryOf(event.cluster, nowMs);
      if (phase.kind === "settled") continue;
      conditions.resume(event, sinceMs, nowMs);
      resumePrimary(primary, event, sinceMs);
    }
  }

  /**
   * A call that changes the primary of a cluster is forwarded.
   * @param nowMs in ms of rolecall's clock; `null`: the call came to nothing
   */
  announce(cluster: string, nowMs: number | null): void {
    this.#memoryOf(cluster, nowMs ?? 0).primary.calledAtMs = nowMs ?? -Infinity;
  }

  /** How many events of a cluster have begun and not ended. */
  openCount(cluster: string): number {
    return this.#clusters.get(cluster)?.conditions.size ?? 0;
  }

  /** Forgets all other clusters. */
  retain(clusters: readonly string[]): void {
    for (const [name, memory] of this.#clusters) {
      if (clusters.includes(name)) continue;
      this.#setPresent(memory, null);
      this.#clusters.delete(name);
    }
  }

  #setPresent(memory: ClusterMemory, primary: PrimaryFacts | null): void {
    const [before, after] = [memory.present?.system ?? null, primary?.system ?? null];
    memory.present = primary;
    if (before === after) return;
    this.#systems.set(after, (this.#systems.get(after) ?? 0) + 1);
    const left = (this.#systems.get(before) ?? 0) - 1;
    if (left > 0) this.#systems.set(before, left);
    else this.#systems.delete(before);
  }

  /** The primaries of the other clusters that are of the same database system as a cluster's primary. */
  #twinsOf(cluster: string, primary: PrimaryFacts | null): readonly TwinFacts[] {
    if (primary === null || primary.isStandbyLeader || primary.system === null) return [];
    const isOwnCounted = this.#clusters.get(cluster)?.present?.system === primary.system;
    if ((this.#systems.get(primary.system) ?? 0) === (isOwnCounted ? 1 : 0)) return [];
    return [...this.#clusters].flatMap(([name, { present }]) =>
      name === cluster || present === null || present.isStandbyLeader || present.system !== primary.system
        ? []
        : [{ cluster: name, primary: present.node }],
    );
  }

  #memoryOf(cluster: string, nowMs: number): ClusterMemory {
    const known = this.#clusters.get(cluster);
    if (known !== undefined) return known;
    const memory: ClusterMemory = {
      conditions: new OpenConditions(this.#known),
      primary: noPrimaryYet(),
      members: new Set(),
      phase: this.#awaitsFirstRound ? { kind: "first_round" } : { kind: "settling", sinceMs: nowMs },
      present: null,
      firstPrimary: null,
      seenSinceMs: -Infinity,
      examinedAtMs: -Infinity,
      last: null,
      hasNews: false,
    };
    this.#clusters.set(cluster, memory);
    return memory;
  }
}

/**
 * Whether enough is known of a cluster to tell what changes: every node was probed and a primary found, or there was
 * enough time for it.
 */
function isSettled({ cluster, policy }: ClusterView, { primary, nodes }: ClusterFacts, sinceMs: number): boolean {
  if (sinceMs >= settleMs(policy)) return true;
  const isProbed = nodes.every(({ observation }) => observation.report !== null || observation.failuresInRow > 0);
  return isProbed && nodes.length > 0 && cluster.isMembershipKnown && primary !== null;
}

/** Updates since when a cluster can be seen. After that each node has to be probed once: they answer in turn. */
function visibilityOf(memory: ClusterMemory, view: ClusterView): Visibility {
  const { nowMs, policy } = view;
  if (isHidden(view)) {
    memory.seenSinceMs = null;
    return "hidden";
  }
  memory.seenSinceMs ??= nowMs;
  const isLong = nowMs - memory.seenSinceMs >= settleMs(policy);
  return isLong || isProbedSince(view, memory.seenSinceMs) ? "clear" : "emerging";
}

/** The time after which a node that does not answer is down. @returns milliseconds */
function settleMs({ fall, intervalMs, timeoutMs }: HealthPolicy): number {
  return (fall + 1) * intervalMs + timeoutMs;
}

function settle(memory: ClusterMemory, facts: ClusterFacts): void {
  memory.phase = { kind: "settled" };
  memory.members = namesOf(facts);
  memory.primary.last ??= memory.firstPrimary;
  // What an earlier process saw last may have changed since.
  memory.primary.wasHidden = true;
}

function recheckAfterMs(
  { phase, conditions, seenSinceMs, present, hasNews }: ClusterMemory,
  { intervalMs }: HealthPolicy,
): number {
  const isQuiet =
    !hasNews && phase.kind === "settled" && conditions.isEmpty && seenSinceMs !== null && present !== null;
  return isQuiet ? Math.max(recheckMs, Math.min(quietRecheckMs, intervalMs)) : recheckMs;
}

function namesOf({ nodes }: ClusterFacts): ReadonlySet<string> {
  return new Set(nodes.map(({ node }) => node));
}

function resumePrimary(memory: PrimaryMemory, { kind, severity, node, figures }: ClusterEvent, sinceMs: number): void {
  if (kind !== "primary_lost" && kind !== "primary_found" && kind !== "timeline_back") return;
  if (kind !== "timeline_back") {
    const lostAs = severity === "info" ? "announced" : "reported";
    const since = memory.loss.kind === "announced" ? memory.loss.sinceMs : sinceMs;
    memory.loss = kind === "primary_lost" ? { kind: lostAs, sinceMs: since } : { kind: "none" };
  }
  // The cluster had no primary since rolecall first saw it.
  if (node === null) return;
  const { timeline } = figures;
  memory.last = {
    node,
    isStandbyLeader: false,
    system: null,
    timeline: typeof timeline === "number" ? timeline : (memory.last?.timeline ?? null),
  };
}

/** Finds the nodes that joined and left a cluster. @param known the nodes that it had */
function memberEvents(
  known: ReadonlySet<string>,
  { cluster, nodes }: ClusterFacts,
): { readonly members: ReadonlySet<string>; readonly events: readonly EventDraft[] } {
  const isSame = nodes.length === known.size && nodes.every(({ node }) => known.has(node));
  if (isSame) return { members: known, events: [] };
  const members = new Set(nodes.map(({ node }) => node));
  const joined = [...members].filter((node) => !known.has(node));
  const left = [...known].filter((node) => !members.has(node));
  return {
    members,
    events: [
      ...joined.map((node) => change("node_joined", cluster, node)),
      ...left.map((node) => change("node_left", cluster, node)),
    ],
  };

  function change(kind: "node_joined" | "node_left", of: string, node: string): EventDraft {
    const message = kind === "node_joined" ? `${node} joined ${of}` : `${node} left ${of}`;
    return { kind, severity: "info", cluster: of, node, message, cause: null, figures: { nodes: members.size } };
  }
}
