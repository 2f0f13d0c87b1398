import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { observe } from "../health/observe/observe.ts";
import { withSource } from "../health/observe/source.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** The state of one cluster, and the policy that it is judged by. */
export interface MonitoredCluster {
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
}

/** Called with the state of a cluster before and after each change. */
export type ChangeListener = (before: ClusterState, after: ClusterState) => void;

/**
 * Called with each outcome that changed the snapshot, when it was recorded, in ms of rolecall's clock, and the new
 * snapshot's number.
 */
export type OutcomeListener = (outcome: ProbeOutcome, nowMs: number, sequence: number) => void;

/**
 * Holds the current snapshot: the one mutable cell. Probes write it through `record`; everything else only reads
 * `current`.
 */
export class Store {
  #current: Snapshot;
  #policies: ReadonlyMap<string, HealthPolicy>;
  /** Cluster name -> the clusters that replicate from it. */
  #followers: ReadonlyMap<string, readonly string[]>;
  readonly #changeListeners = new Set<ChangeListener>();
  readonly #outcomeListeners = new Set<OutcomeListener>();

  /**
   * @param instance names this run of rolecall
   * @param sequence the number of the first snapshot: 0 except for a replica of another store
   */
  constructor(instance: string, clusters: readonly MonitoredCluster[], sequence: number = 0) {
    this.#current = snapshotOf(instance, sequence, clusters);
    this.#policies = policiesOf(clusters);
    this.#followers = followersOf(clusters);
  }

  get current(): Snapshot {
    return this.#current;
  }

  /** The policy that a cluster is judged by; `undefined` if the cluster is not monitored. */
  policyOf(cluster: string): HealthPolicy | undefined {
    return this.#policies.get(cluster);
  }

  /**
   * Calls `listener` after each change of a cluster, in the order of registration.
   * @returns removes the listener
   */
  onChange(listener: ChangeListener): () => void {
    this.#changeListeners.add(listener);
    return () => void this.#changeListeners.delete(listener);
  }

  /**
   * Calls `listener` with each outcome that changed the snapshot, before the change listeners: a store that records the
   * same is a replica.
   * @returns removes the listener
   */
  onOutcome(listener: OutcomeListener): () => void {
    this.#outcomeListeners.add(listener);
    return () => void this.#outcomeListeners.delete(listener);
  }

  /**
   * Records one outcome: the only way to a new snapshot. An outcome of a cluster that is no longer monitored is
   * dropped.
   * @param nowMs the time of recording, in ms of rolecall's clock
   * @throws AggregateError what listeners threw; the outcome is recorded then, and every listener was called
   */
  record(outcome: ProbeOutcome, nowMs: number): void {
    const at = this.#current.index.get(outcome.cluster);
    const before = at === undefined ? undefined : this.#current.clusters[at];
    const policy = this.#policies.get(outcome.cluster);
    if (at === undefined || before === undefined || policy === undefined) return;
    const observed = observe(before, outcome, { policy, nowMs });
    if (observed === before) return;
    const sequence = this.#current.sequence + 1;
    const after = { ...observed, sequence };
    const clusters = this.#current.clusters.with(at, after);
    const followers = this.#updateFollowers(clusters, after);
    this.#current = { ...this.#current, sequence, clusters };
    callAll([
      ...[...this.#outcomeListeners].map((listener) => () => listener(outcome, nowMs, sequence)),
      ...[[before, after] as const, ...followers].flatMap(([was, is]) =>
        [...this.#changeListeners].map((listener) => () => listener(was, is)),
      ),
    ]);
  }

  /**
   * Gives the clusters that replicate from `source`, directly or through others, its new state.
   * @param clusters where the states are replaced
   * @returns the states before and after
   */
  #updateFollowers(clusters: ClusterState[], source: ClusterState): readonly (readonly [ClusterState, ClusterState])[] {
    const followers = this.#followers.get(source.name) ?? [];
    return followers.flatMap((name) => {
      const at = this.#current.index.get(name);
      const before = at === undefined ? undefined : clusters[at];
      if (at === undefined || before === undefined) return [];
      const after = { ...withSource(before, source), sequence: source.sequence };
      clusters[at] = after;
      return [[before, after] as const, ...this.#updateFollowers(clusters, after)];
    });
  }

  /** Starts from what an earlier run saved, before anything is recorded. The snapshot's number stays. */
  restore(clusters: readonly MonitoredCluster[]): void {
    this.#set(clusters, this.#current.sequence);
  }

  /** Monitors other clusters from now on (a reload). Their states carry over what is still known. */
  replace(clusters: readonly MonitoredCluster[]): void {
    this.#set(clusters, this.#current.sequence + 1);
  }

  #set(clusters: readonly MonitoredCluster[], sequence: number): void {
    this.#policies = policiesOf(clusters);
    this.#followers = followersOf(clusters);
    this.#current = snapshotOf(this.#current.instance, sequence, clusters);
  }
}

/** Calls every listener: one that throws must not keep a change from the others. */
function callAll(listeners: readonly (() => void)[]): void {
  const errors: unknown[] = [];
  for (const listener of listeners) {
    try {
      listener();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "an outcome was recorded, but not all that follows from it");
}

function snapshotOf(instance: string, sequence: number, clusters: readonly MonitoredCluster[]): Snapshot {
  return {
    instance,
    sequence,
    // The policies may differ, so every verdict is judged anew: no earlier state has this revision, as it never grows
    // faster than the sequence.
    clusters: withSources(clusters, sequence),
    index: new Map(clusters.map(({ cluster }, at) => [cluster.name, at])),
  };
}

/** Gives each cluster its revision, and the state of its source. The configuration rules out circles. */
function withSources(clusters: readonly MonitoredCluster[], revision: number): readonly ClusterState[] {
  const byName = new Map(clusters.map((monitored) => [monitored.cluster.name, monitored]));
  const linked = ({ cluster, policy }: MonitoredCluster): ClusterState => {
    const source = policy.source === undefined ? undefined : byName.get(policy.source);
    return { ...withSource(cluster, source === undefined ? null : linked(source)), revision };
  };
  return clusters.map(linked);
}

function followersOf(clusters: readonly MonitoredCluster[]): ReadonlyMap<string, readonly string[]> {
  const followers = new Map<string, string[]>();
  for (const { cluster, policy } of clusters)
    if (policy.source !== undefined)
      followers.set(policy.source, [...(followers.get(policy.source) ?? []), cluster.name]);
  return followers;
}

function policiesOf(clusters: readonly MonitoredCluster[]): ReadonlyMap<string, HealthPolicy> {
  return new Map(clusters.map(({ cluster, policy }) => [cluster.name, policy]));
}
