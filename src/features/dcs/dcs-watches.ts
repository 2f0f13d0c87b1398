import type { DcsResult } from "../../core/cluster/dcs.ts";
import type { SetTimer } from "../../core/cluster/timer.ts";
import { accessPathsOf, readAccess, type AccessMaterial } from "../../core/config/access-material.ts";
import type { ClusterConfig, DcsConfig } from "../../core/config/model/config.ts";
import { WatchedFiles } from "../../core/config/watched-files.ts";
import type { WatchEnd } from "../../core/etcd/etcd-messages.ts";
import type { DcsSource } from "./dcs-source.ts";
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

/** Opens the keys of a cluster in its DCS. It sends nothing yet. @param access the content of its files */
export type OpenDcsSource = (
  cluster: Pick<ClusterConfig, "name" | "scope">,
  dcs: DcsConfig,
  access: AccessMaterial,
) => DcsSource;

/** The deadline of each request to a DCS, in ms. */
const dcsTimeoutMs = 1_500;

interface RunningWatch {
  /** The settings, to compare. */
  readonly settings: string;
  readonly isChangePending: () => Promise<boolean | null>;
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

  /** Ends all watches. */
  stop(): void {
    for (const { stop } of this.#running.values()) stop();
    this.#running.clear();
  }

  /** Files that cannot be read leave the watcher as it is. If there is none yet, reads go on without them, and fail. */
  #watch(cluster: ClusterConfig, dcs: DcsConfig): RunningWatch {
    const { name } = cluster;
    let watcher: ScopeWatcher | null = null;
    const begin = (access: AccessMaterial): void => {
      watcher?.stop();
      watcher = this.#watcherOf(name, this.#context.sourceOf(cluster, dcs, access));
      watcher.start();
    };
    const paths = accessPathsOf(dcs);
    const files = new WatchedFiles(paths, () => readAccess(dcs), {
      onChange: (access) => {
        this.#context.onFiles(name, null);
        begin(access);
      },
      onProblem: (problem) => this.#context.onFiles(name, problem),
    });
    begin(files.read() ?? { tls: {}, auth: null });
    files.start();
    return {
      settings: settingsOf(cluster),
      isChangePending: () => watcher?.isChangePending() ?? Promise.resolve(null),
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

/** The source of a cluster's keys. @param access the content of its files */
export function dcsSourceOf(
  { name, scope }: Pick<ClusterConfig, "name" | "scope">,
  dcs: DcsConfig,
  access: AccessMaterial,
): DcsSource {
  const location = { endpoints: dcs.etcd, prefix: dcs.prefix, scope: dcs.scope ?? scope ?? name };
  return new EtcdSource(location, access, dcsTimeoutMs);
}

function settingsOf({ name, scope, dcs }: ClusterConfig): string {
  return JSON.stringify({ name, scope, dcs });
}
