import type { DcsResult } from "../../core/cluster/dcs.ts";
import type { SetTimer } from "../../core/cluster/timer.ts";
import { accessPathsOf, readAccess, type AccessMaterial } from "../../core/config/access-material.ts";
import type { ClusterConfig, DcsConfig } from "../../core/config/model/config.ts";
import { WatchedFiles } from "../../core/config/watched-files.ts";
import type { WatchEnd } from "../../core/etcd/etcd-messages.ts";
import type { DcsSource, OpenDcsSource } from "../../core/dcs/dcs-source.ts";
import { EtcdSource } from "./etcd-source.ts";
import { ScopeWatcher, type MissedChange } from "./scope-watcher.ts";

/** What the watches of all clusters depend on. */
export interface DcsWatchesContext {
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  readonly random: () => number;
  readonly setTimer: SetTimer;
  readonly sourceOf: OpenDcsSource;
  readonly onResult: (cluster: string, result: DcsResult, sentAtMs: number) => void;
  /** `member`: the new leader; `null`: all nodes may have changed. */
  readonly onHint: (cluster: string, member: string | null) => void;
  readonly onRead: (cluster: string, outcome: "answered" | "failed") => void;
  readonly onWatchEnd: (cluster: string, end: WatchEnd | MissedChange) => void;
  /** The files for the DCS of a cluster were read: with `null`, or with the reason why they could not be. */
  readonly onFiles: (cluster: string, problem: string | null) => void;
}

/** The deadline of each request to a DCS, in ms. */
const dcsTimeoutMs = 1_500;

interface RunningWatch {
  /** The settings, to compare. */
  readonly settings: string;
  readonly isChangePending: () => Promise<boolean | null>;
  /** Looks again for what has its keys, if nothing had. */
  readonly lookForSource: () => void;
  readonly stop: () => void;
}

/** Watches the DCS of some clusters. */
export class DcsWatches {
  readonly #context: DcsWatchesContext;
  readonly #running = new Map<string, RunningWatch>();

  constructor(context: DcsWatchesContext) {
    this.#context = context;
  }

  /** Watches those of these clusters that have a DCS, in place of those watched so far. Unchanged watches go on. */
  start(clusters: readonly ClusterConfig[]): void {
    const wanted = new Map(
      clusters.flatMap((cluster) => (cluster.dcs === null ? [] : [[cluster.name, { cluster, dcs: cluster.dcs }]])),
    );
    for (const [name, { settings, stop }] of this.#running) {
      const next = wanted.get(name);
      if (next !== undefined && settings === settingsOf(next.cluster)) continue;
      stop();
      this.#running.delete(name);
    }
    for (const [name, { cluster, dcs }] of wanted)
      if (!this.#running.has(name)) this.#running.set(name, this.#watch(cluster, dcs));
  }

  /** As {@link DcsSource.isChangePending}; `null`, too, for a cluster whose DCS is not watched. */
  isChangePending(cluster: string): Promise<boolean | null> {
    return this.#running.get(cluster)?.isChangePending() ?? Promise.resolve(null);
  }

  /** What opens the keys of clusters has changed: those whose keys nothing had are looked for again. */
  lookForSources(): void {
    for (const { lookForSource } of this.#running.values()) lookForSource();
  }

  /** Ends all watches. */
  stop(): void {
    for (const { stop } of this.#running.values()) stop();
    this.#running.clear();
  }

  /** Files that cannot be read leave the watcher as it is. If there is none yet, reads go on without them, and fail. */
  #watch(cluster: ClusterConfig, dcs: DcsConfig): RunningWatch {
    const { name } = cluster;
    let watcher: ScopeWatcher | null = null;
    let last: AccessMaterial = { tls: {}, auth: null };
    const begin = (access: AccessMaterial): void => {
      last = access;
      watcher?.stop();
      const source = this.#context.sourceOf(cluster, dcs, access);
      watcher = source === null ? null : this.#watcherOf(name, source);
      watcher?.start();
    };
    const paths = accessPathsOf(dcs);
    const files = new WatchedFiles(paths, () => readAccess(dcs), {
      onChange: (access) => {
        this.#context.onFiles(name, null);
        begin(access);
      },
      onProblem: (problem) => this.#context.onFiles(name, problem),
    });
    begin(files.read() ?? last);
    files.start();
    return {
      settings: settingsOf(cluster),
      isChangePending: () => watcher?.isChangePending() ?? Promise.resolve(null),
      lookForSource: () => (watcher === null ? begin(last) : undefined),
      stop: () => {
        files.close();
        watcher?.stop();
      },
    };
  }

  #watcherOf(cluster: string, source: DcsSource): ScopeWatcher {
    const { now, random, setTimer, onResult, onHint, onRead, onWatchEnd } = this.#context;
    return new ScopeWatcher(source, {
      now,
      random,
      setTimer,
      onResult: (result, sentAtMs) => onResult(cluster, result, sentAtMs),
      onHint: (member) => onHint(cluster, member),
      onRead: (outcome) => onRead(cluster, outcome),
      onWatchEnd: (end) => onWatchEnd(cluster, end),
    });
  }
}

/** The keys of a cluster in etcd; `null`: they are not there. */
export const etcdSourceOf: OpenDcsSource = ({ name, scope }, dcs, access) => {
  if (dcs.etcd.length === 0) return null;
  const location = { endpoints: dcs.etcd, prefix: dcs.prefix, scope: dcs.scope ?? scope ?? name };
  return new EtcdSource(location, access, dcsTimeoutMs);
};

function settingsOf({ name, scope, dcs }: ClusterConfig): string {
  return JSON.stringify({ name, scope, dcs });
}
