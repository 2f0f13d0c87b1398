import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { observe } from "../health/observe/observe.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** One cluster's part, and what it is judged by. */
export interface MonitoredCluster {
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
}

/** Told of each change of a part: what it was, what it is. */
export type ChangeListener = (before: ClusterState, after: ClusterState) => void;

/** Told of each outcome that changed a part, when it was recorded, in ms of our clock, and which snapshot came of it. */
export type OutcomeListener = (outcome: ProbeOutcome, nowMs: number, sequence: number) => void;

/** The hearth: the one mutable cell. Probes write it through `record`; everyone else only takes `current`. */
export class Store {
  #current: Snapshot;
  #policy: ReadonlyMap<string, HealthPolicy>;
  readonly #watchers: ChangeListener[] = [];
  readonly #followers: OutcomeListener[] = [];

  /** @param sequence that of the snapshot it begins with: 0 but for a copy of another store */
  constructor(instance: string, clusters: readonly MonitoredCluster[], sequence: number = 0) {
    this.#current = snapshotOf(instance, sequence, clusters);
    this.#policy = settingsOf(clusters);
  }

  get current(): Snapshot {
    return this.#current;
  }

  /** What the cluster is judged by; `undefined` for a cluster that is not tended. */
  settings(cluster: string): HealthPolicy | undefined {
    return this.#policy.get(cluster);
  }

  /** Calls `watcher` after each change, in the order of joining. */
  onChange(watcher: ChangeListener): void {
    this.#watchers.push(watcher);
  }

  /** Calls `follower` with each outcome that changes a part, before the watchers: a copy that records the same is the same. */
  onOutcome(follower: OutcomeListener): void {
    this.#followers.push(follower);
  }

  /**
   * Takes one outcome in: the only way a snapshot comes to be. An outcome of a cluster that is no longer tended is dropped.
   * @param nowMs the instant of recording, in ms of our clock
   */
  record(outcome: ProbeOutcome, nowMs: number): void {
    const at = this.#current.index.get(outcome.cluster);
    const before = at === undefined ? undefined : this.#current.clusters[at];
    const policy = this.#policy.get(outcome.cluster);
    if (at === undefined || before === undefined || policy === undefined) return;
    const observed = observe(before, outcome, { policy, nowMs });
    if (observed === before) return;
    const sequence = this.#current.sequence + 1;
    const after = { ...observed, sequence };
    this.#current = { ...this.#current, sequence, clusters: this.#current.clusters.with(at, after) };
    for (const follower of this.#followers) follower(outcome, nowMs, sequence);
    for (const watcher of this.#watchers) watcher(before, after);
  }

  /** Tends other clusters from now on (a reload). The parts carry over what is still known. */
  replace(clusters: readonly MonitoredCluster[]): void {
    this.#policy = settingsOf(clusters);
    this.#current = snapshotOf(this.#current.instance, this.#current.sequence + 1, clusters);
  }
}

function snapshotOf(instance: string, sequence: number, clusters: readonly MonitoredCluster[]): Snapshot {
  return {
    instance,
    sequence,
    // What was judged by other settings is judged anew. No part had these facts before: they never grow faster than the sequence.
    clusters: clusters.map(({ cluster }) => ({ ...cluster, revision: sequence })),
    index: new Map(clusters.map(({ cluster: state }, at) => [state.name, at])),
  };
}

function settingsOf(clusters: readonly MonitoredCluster[]): ReadonlyMap<string, HealthPolicy> {
  return new Map(clusters.map(({ cluster, policy }) => [cluster.name, policy]));
}
