import type { Outcome } from "./cluster/outcome.ts";
import type { ClusterPart, Snapshot } from "./cluster/snapshot.ts";
import { observe } from "./health/observe.ts";
import type { Settings } from "./health/settings.ts";

/** One cluster's part, and what it is judged by. */
export interface Tended {
  readonly part: ClusterPart;
  readonly settings: Settings;
}

/** Told of each change of a part: what it was, what it is. */
export type Watcher = (before: ClusterPart, after: ClusterPart) => void;

/** Told of each outcome that changed a part, when it was recorded, in ms of our clock, and which snapshot came of it. */
export type Follower = (outcome: Outcome, nowMs: number, sequence: number) => void;

/** The hearth: the one mutable cell. Probes write it through `record`; everyone else only takes `current`. */
export class Store {
  #current: Snapshot;
  #settings: ReadonlyMap<string, Settings>;
  readonly #watchers: Watcher[] = [];
  readonly #followers: Follower[] = [];

  /** @param sequence that of the snapshot it begins with: 0 but for a copy of another store */
  constructor(instance: string, clusters: readonly Tended[], sequence: number = 0) {
    this.#current = snapshotOf(instance, sequence, clusters);
    this.#settings = settingsOf(clusters);
  }

  get current(): Snapshot {
    return this.#current;
  }

  /** What the cluster is judged by; `undefined` for a cluster that is not tended. */
  settings(cluster: string): Settings | undefined {
    return this.#settings.get(cluster);
  }

  /** Calls `watcher` after each change, in the order of joining. */
  watch(watcher: Watcher): void {
    this.#watchers.push(watcher);
  }

  /** Calls `follower` with each outcome that changes a part, before the watchers: a copy that records the same is the same. */
  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /**
   * Takes one outcome in: the only way a snapshot comes to be. An outcome of a cluster that is no longer tended is dropped.
   * @param nowMs the instant of recording, in ms of our clock
   */
  record(outcome: Outcome, nowMs: number): void {
    const at = this.#current.index.get(outcome.cluster);
    const before = at === undefined ? undefined : this.#current.parts[at];
    const settings = this.#settings.get(outcome.cluster);
    if (at === undefined || before === undefined || settings === undefined) return;
    const observed = observe(before, outcome, { settings, nowMs });
    if (observed === before) return;
    const sequence = this.#current.sequence + 1;
    const after = { ...observed, sequence };
    this.#current = { ...this.#current, sequence, parts: this.#current.parts.with(at, after) };
    for (const follower of this.#followers) follower(outcome, nowMs, sequence);
    for (const watcher of this.#watchers) watcher(before, after);
  }

  /** Tends other clusters from now on (a reload). The parts carry over what is still known. */
  replace(clusters: readonly Tended[]): void {
    this.#settings = settingsOf(clusters);
    this.#current = snapshotOf(this.#current.instance, this.#current.sequence + 1, clusters);
  }
}

function snapshotOf(instance: string, sequence: number, clusters: readonly Tended[]): Snapshot {
  return {
    instance,
    sequence,
    // What was judged by other settings is judged anew. No part had these facts before: they never grow faster than the sequence.
    parts: clusters.map(({ part }) => ({ ...part, facts: sequence })),
    index: new Map(clusters.map(({ part }, at) => [part.name, at])),
  };
}

function settingsOf(clusters: readonly Tended[]): ReadonlyMap<string, Settings> {
  return new Map(clusters.map(({ part, settings }) => [part.name, settings]));
}
