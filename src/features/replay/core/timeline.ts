import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import { datedEvent, type ClusterEvent, type EventDraft } from "../../../core/events/cluster-event.ts";
import { EventDetector } from "../../../core/events/detection/event-detector.ts";
import { VerdictChanges, type VerdictChange } from "../../../core/events/verdict-changes.ts";
import { viewAt } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { totalLagBytes } from "../../../core/health/evidence/position/measure.ts";
import { lagOriginOf } from "../../../core/health/evidence/position/origin.ts";
import type { IncidentFile, Moment } from "../file/incident-file.ts";
import { replayed, stateAtBeginning } from "./replay.ts";

/** A change of one node's verdicts. */
export type ReplayedChange = Pick<VerdictChange, "node" | "before" | "after" | "failure"> & {
  /** In ms of the file's clock. */
  readonly atMs: number;
};

/** The state of the cluster after a moment, and the index of the next moment. */
export interface Checkpoint {
  readonly state: ClusterState;
  readonly next: number;
  readonly atMs: number;
}

/** What happened over a whole incident. Times are in ms of the file's clock. */
export interface Timeline {
  readonly fromMs: number;
  readonly toMs: number;
  /** Since when every node was observed. What is judged before it lacks evidence that rolecall had. */
  readonly settledMs: number;
  readonly changes: readonly ReplayedChange[];
  /** Oldest first. */
  readonly events: readonly ClusterEvent[];
  /** By node, its lag `[ms, bytes]`; `null` for an unknown lag. */
  readonly samples: ReadonlyMap<string, readonly (readonly [number, number | null])[]>;
  readonly checkpoints: readonly Checkpoint[];
  /** Whether later changes or events are left out, because there are too many. */
  readonly isCut: boolean;
}

/** How many lag samples of a node, and how many checkpoints, are kept. */
const samplesMax = 600;
const checkpointsMax = 500;
/** How many changes and events are kept. */
const changesMax = 20_000;

/**
 * Replays an incident from its beginning to its end.
 * @param most how many changes and events are kept, at most each
 */
export function replayTimeline(incident: IncidentFile, most: number = changesMax): Timeline {
  const { moments } = incident;
  const fromMs = moments[0]?.atMs ?? 0;
  const toMs = moments.at(-1)?.atMs ?? 0;
  const scan = new TimelineScan(incident, most);
  for (const [index, moment] of moments.entries()) scan.add(moment, index);
  return { fromMs, toMs, ...scan.result };
}

/** Collects what happens while an incident is replayed, as rolecall did when it was recorded. */
class TimelineScan {
  readonly #incident: IncidentFile;
  readonly #finder = new VerdictChanges();
  readonly #detector = new EventDetector();
  readonly #changes: ReplayedChange[] = [];
  readonly #events: ClusterEvent[] = [];
  readonly #samples = new Map<string, (readonly [number, number | null])[]>();
  readonly #checkpoints: Checkpoint[];
  readonly #sampleEveryMs: number;
  readonly #checkpointEvery: number;
  readonly #most: number;
  #isCut = false;
  #nextSampleMs = -Infinity;
  #settledMs: number | null = null;
  #lastMs: number | null = null;
  /** The nodes without an outcome since nobody watched: another process began to. Until then nothing has happened. */
  readonly #unheard = new Set<string>();
  #state: ClusterState;

  constructor(incident: IncidentFile, most: number) {
    const { moments } = incident;
    this.#most = most;
    const spanMs = (moments.at(-1)?.atMs ?? 0) - (moments[0]?.atMs ?? 0);
    this.#incident = incident;
    this.#state = stateAtBeginning(incident);
    this.#checkpoints = [{ state: this.#state, next: 0, atMs: -Infinity }];
    this.#sampleEveryMs = Math.max(incident.policy.intervalMs, spanMs / samplesMax);
    this.#checkpointEvery = Math.ceil(moments.length / checkpointsMax);
  }

  get result(): Omit<Timeline, "fromMs" | "toMs"> {
    const settledMs = this.#settledMs ?? this.#incident.moments.at(-1)?.atMs ?? 0;
    const [changes, events] = [this.#changes, this.#events];
    const [samples, checkpoints, isCut] = [this.#samples, this.#checkpoints, this.#isCut];
    return { settledMs, changes, events, samples, checkpoints, isCut };
  }

  add({ atMs, outcomes }: Moment, index: number): void {
    const { policy } = this.#incident;
    const context = { policy, nowMs: atMs };
    // Nodes that are silent have outcomes too, so a time without any is one in which rolecall did not run.
    if (this.#lastMs !== null && atMs - this.#lastMs > policy.maxAgeMs)
      for (const { node } of this.#state.nodes) this.#unheard.add(node.name);
    this.#lastMs = atMs;
    for (const outcome of outcomes) {
      if ("node" in outcome) this.#unheard.delete(outcome.node);
      const before = this.#state;
      this.#state = replayed(this.#incident, before, { outcome, atMs });
      const changes = this.#finder.find(before, this.#state, context);
      this.#addChanges(changes, atMs);
      if (this.#unheard.size > 0) continue;
      const summaries = this.#finder.summaries(this.#state.name);
      const drafts = this.#detector.find(this.#state, summaries, { ...context, isVerdictChanged: changes.length > 0 });
      this.#addEvents(drafts, atMs);
    }
    const isObserved = this.#state.nodes.every(({ report, failuresInRow }) => report !== null || failuresInRow > 0);
    if (isObserved) this.#settledMs ??= atMs;
    if (atMs >= this.#nextSampleMs) this.#sample(atMs);
    if ((index + 1) % this.#checkpointEvery === 0)
      this.#checkpoints.push({ state: this.#state, next: index + 1, atMs });
  }

  #addChanges(changes: readonly VerdictChange[], atMs: number): void {
    for (const { node, before, after, failure } of changes)
      if (this.#changes.length < this.#most) this.#changes.push({ atMs, node, before, after, failure });
      else this.#isCut = true;
  }

  #addEvents(drafts: readonly EventDraft[], atMs: number): void {
    const at = (this.#incident.beganWallMs ?? 0) + atMs;
    for (const draft of drafts)
      if (this.#events.length < this.#most) this.#events.push(datedEvent(draft, `0.${this.#events.length + 1}`, at));
      else this.#isCut = true;
  }

  #sample(atMs: number): void {
    this.#nextSampleMs = atMs + this.#sampleEveryMs;
    const view = viewAt(this.#state, this.#incident.policy, atMs);
    for (const observation of this.#state.nodes) {
      const { name } = observation.node;
      if (name === view.lock.holder && lagOriginOf(this.#state) === null) continue;
      const known = this.#samples.get(name) ?? [];
      known.push([atMs, totalLagBytes(view, observation)]);
      this.#samples.set(name, known);
    }
  }
}
