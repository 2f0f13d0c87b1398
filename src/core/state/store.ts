import type { ProbeOutcome } from "../cluster/outcome.ts";
import { clusterNamed } from "../cluster/lookup.ts";
import type { ClusterState, Draft, Snapshot } from "../cluster/snapshot.ts";
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

/** Changes in place: what {@link Store.current} returned is a copy. */
type LatestSnapshot = Snapshot & { sequence: number; readonly clusters: ClusterState[] };

/**
 * Called with each outcome that changed the snapshot, when it was recorded, in ms of rolecall's clock, and the new
 * snapshot's number.
 */
export type OutcomeListener = (outcome: ProbeOutcome, nowMs: number, sequence: number) => void;

/** Called with a state of another instance that was adopted, and the number of the snapshot that it led to. */
export type AdoptionListener = (state: ClusterState, sequence: number) => void;

/**
 * Holds the current snapshot: the one mutable cell. Probes write it through `record`; everything else only reads
 * `current`, or one cluster of it.
 */
export class Store {
  #latest: LatestSnapshot;
  /** What `current` returns until the next change; `null` until it is asked. */
  #current: Snapshot | null = null;
  #policies: ReadonlyMap<string, HealthPolicy>;
  /** Cluster name -> the clusters that replicate from it. */
  #followers: ReadonlyMap<string, readonly string[]>;
  #changeListeners: readonly ChangeListener[] = [];
  #outcomeListeners: readonly OutcomeListener[] = [];
  #adoptionListeners: readonly AdoptionListener[] = [];

  /**
   * @param instance names this run of rolecall
   * @param sequence the number of the first snapshot: 0 except for a replica of another store
   */
  constructor(instance: string, clusters: readonly MonitoredCluster[], sequence: number = 0) {
    this.#latest = snapshotOf(instance, sequence, clusters);
    this.#policies = policiesOf(clusters);
    this.#followers = followersOf(clusters);
  }

  get current(): Snapshot {
    return (this.#current ??= { ...this.#latest, clusters: [...this.#latest.clusters] });
  }

  /** The number of the current snapshot. */
  get sequence(): number {
    return this.#latest.sequence;
  }

  /** The present state of a cluster, without a copy of all others; `undefined` if the cluster is not monitored. */
  clusterNamed(name: string | null): ClusterState | undefined {
    return clusterNamed(this.#latest, name);
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
    this.#changeListeners = [...this.#changeListeners, listener];
    return () => {
      this.#changeListeners = this.#changeListeners.filter((other) => other !== listener);
    };
  }

  /**
   * Calls `listener` with each outcome that changed the snapshot, before the change listeners: a store that records the
   * same is a replica.
   * @returns removes the listener
   */
  onOutcome(listener: OutcomeListener): () => void {
    this.#outcomeListeners = [...this.#outcomeListeners, listener];
    return () => {
      this.#outcomeListeners = this.#outcomeListeners.filter((other) => other !== listener);
    };
  }

  /**
   * Calls `listener` with each state that was adopted, before the change listeners: a replica has to adopt it too.
   * @returns removes the listener
   */
  onAdoption(listener: AdoptionListener): () => void {
    this.#adoptionListeners = [...this.#adoptionListeners, listener];
    return () => {
      this.#adoptionListeners = this.#adoptionListeners.filter((other) => other !== listener);
    };
  }

  /**
   * Records one outcome: the only way to a new snapshot. An outcome of a cluster that is no longer monitored is
   * dropped.
   * @param nowMs the time of recording, in ms of rolecall's clock
   * @throws AggregateError what listeners threw; the outcome is recorded then, and every listener was called
   */
  record(outcome: ProbeOutcome, nowMs: number): void {
    const at = this.#latest.index.get(outcome.cluster);
    const before = at === undefined ? undefined : this.#latest.clusters[at];
    const policy = this.#policies.get(outcome.cluster);
    if (at === undefined || before === undefined || policy === undefined) return;
    const sequence = this.#latest.sequence + 1;
    const after: Draft = observe(before, outcome, { policy, nowMs });
    if (after === before) return;
    after.sequence = sequence;
    const followers = this.#put(at, after);
    const [outcomeListeners, changeListeners] = [this.#outcomeListeners, this.#changeListeners];
    const errors: unknown[] = [];
    callAll(outcomeListeners, errors, outcome, nowMs, sequence);
    callAll(changeListeners, errors, before, after);
    for (const [was, is] of followers) callAll(changeListeners, errors, was, is);
    if (errors.length > 0)
      throw new AggregateError(errors, "an outcome was recorded, but not all that follows from it");
  }

  /**
   * Replaces the state of a cluster by that of another instance.
   * @throws AggregateError as {@link record}
   */
  adopt(state: ClusterState): void {
    const at = this.#latest.index.get(state.name);
    const before = at === undefined ? undefined : this.#latest.clusters[at];
    if (at === undefined || before === undefined) return;
    const sequence = this.#latest.sequence + 1;
    const after = { ...withSource(state, before.source), sequence, revision: before.revision + 1 };
    const errors: unknown[] = [];
    const changes = [[before, after] as const, ...this.#put(at, after)];
    callAll(this.#adoptionListeners, errors, state, sequence);
    for (const [was, is] of changes) callAll(this.#changeListeners, errors, was, is);
    if (errors.length > 0) throw new AggregateError(errors, "a state was adopted, but not all that follows from it");
  }

  /** Puts the state of a cluster in force. @returns the states before and after of those that replicate from it */
  #put(at: number, after: ClusterState): readonly (readonly [ClusterState, ClusterState])[] {
    this.#latest.sequence = after.sequence;
    this.#latest.clusters[at] = after;
    this.#current = null;
    return this.#updateFollowers(after);
  }

  /**
   * Gives the clusters that replicate from `source`, directly or through others, its new state.
   * @returns the states before and after
   */
  #updateFollowers(source: ClusterState): readonly (readonly [ClusterState, ClusterState])[] {
    const { clusters, index } = this.#latest;
    const followers = this.#followers.get(source.name) ?? [];
    return followers.flatMap((name) => {
      const at = index.get(name);
      const before = at === undefined ? undefined : clusters[at];
      if (at === undefined || before === undefined) return [];
      const after = { ...withSource(before, source), sequence: source.sequence };
      clusters[at] = after;
      return [[before, after] as const, ...this.#updateFollowers(after)];
    });
  }

  /** Starts from what an earlier run saved, before anything is recorded. The snapshot's number stays. */
  restore(clusters: readonly MonitoredCluster[]): void {
    this.#set(clusters, this.#latest.sequence);
  }

  /** Monitors other clusters from now on (a reload). Their states carry over what is still known. */
  replace(clusters: readonly MonitoredCluster[]): void {
    const sequence = this.#latest.sequence + 1;
    const changed = clusters.map(({ cluster, policy }) => ({ cluster: { ...cluster, sequence }, policy }));
    this.#set(changed, sequence);
  }

  #set(clusters: readonly MonitoredCluster[], sequence: number): void {
    this.#policies = policiesOf(clusters);
    this.#followers = followersOf(clusters);
    this.#latest = snapshotOf(this.#latest.instance, sequence, clusters);
    this.#current = null;
  }
}

/** Calls every listener: one that throws must not keep a change from the others. */
function callAll<Args extends readonly unknown[]>(
  listeners: readonly ((...args: Args) => void)[],
  errors: unknown[],
  ...args: Args
): void {
  for (const listener of listeners) {
    try {
      listener(...args);
    } catch (error) {
      errors.push(error);
    }
  }
}

function snapshotOf(instance: string, sequence: number, clusters: readonly MonitoredCluster[]): LatestSnapshot {
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
function withSources(clusters: readonly MonitoredCluster[], revision: number): ClusterState[] {
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
