import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { viewAt } from "../../health/evidence/leadership/cluster-view.ts";
import { totalLagBytes } from "../../health/evidence/position/measure.ts";
import { lagOriginOf } from "../../health/evidence/position/origin.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";

/** The time between two samples, in ms, and how many are kept: 15 minutes. */
const stepMs = 5_000;
const samplesMax = 180;
/** For how many nodes samples are kept: about 6 MB. Further nodes have no history. */
const nodesMax = 4_096;

/** What samples are taken from. */
export interface LagSources {
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wall: () => number;
  /** Called after each minute of a cluster with its highest lags. */
  readonly onMinute?: (minute: LagOfMinute) => void;
}

/** The highest lag of each node of a cluster within one minute. */
interface LagOfMinute {
  readonly cluster: string;
  /** The last sample of the minute, in ms since the epoch. */
  readonly atWallMs: number;
  /** Node -> bytes; `null` where the lag was unknown all the time, or where the node led. */
  readonly lags: ReadonlyMap<string, number | null>;
}

/** How long the samples are that `onMinute` sums up, in ms. */
const minuteMs = 60_000;

/** The lag of the nodes of one cluster in the last minutes. */
export interface LagSeries {
  /** When each sample was taken, in ms since the epoch, oldest first. */
  readonly at: readonly number[];
  /** For each node the lag in bytes at these times: `null` where it was unknown, or where the node led. */
  readonly nodes: { readonly [node: string]: readonly (number | null)[] };
}

interface Kept {
  sampledAtMs: number;
  times: number[];
  readonly nodes: Map<string, (number | null)[]>;
  /** What the present minute has so far; `null` before its first sample. */
  minute: { readonly startedAtMs: number; atWallMs: number; readonly lags: Map<string, number | null> } | null;
}

/**
 * The lag of the last 15 minutes, for a page that is opened later. A sample is taken while evidence arrives, so without
 * a change it needs no timer. Bounded in time and in nodes.
 */
export class RecentLag {
  readonly #sources: LagSources;
  readonly #clusters = new Map<string, Kept>();
  #nodes = 0;

  constructor(sources: LagSources) {
    this.#sources = sources;
  }

  /** To be called with each state of a cluster. Most calls do nothing: samples are 5 s apart. */
  sample(cluster: ClusterState): void {
    const nowMs = this.#sources.now();
    const kept = this.#clusters.get(cluster.name) ?? newKept();
    if (nowMs - kept.sampledAtMs < stepMs) return;
    const policy = this.#sources.policy(cluster.name);
    if (policy === undefined) return;
    this.#clusters.set(cluster.name, kept);
    const view = viewAt(cluster, policy, nowMs);
    kept.sampledAtMs = nowMs;
    kept.times = [...kept.times, this.#sources.wall()].slice(-samplesMax);
    const known = new Map(cluster.nodes.map((node) => [node.node.name, node]));
    for (const name of known.keys()) if (!kept.nodes.has(name)) this.#begin(kept, name);
    for (const [name, lags] of kept.nodes) {
      const node = known.get(name);
      const isLeader = view.lock.holder === name && lagOriginOf(cluster) === null;
      const lag = node === undefined || isLeader ? null : totalLagBytes(view, node);
      lags.push(lag);
      if (lags.length > kept.times.length) lags.splice(0, lags.length - kept.times.length);
      if (node === undefined && lags.every((value) => value === null)) this.#end(kept, name);
    }
    this.#sumUp(cluster.name, kept, nowMs);
  }

  /** The samples of a cluster; none if there are none. */
  of(cluster: string): LagSeries {
    const kept = this.#clusters.get(cluster);
    return { at: kept?.times ?? [], nodes: Object.fromEntries(kept?.nodes ?? []) };
  }

  /** Forgets clusters that are no longer monitored. */
  retain({ index }: Pick<Snapshot, "index">): void {
    for (const [name, { nodes }] of this.#clusters) {
      if (index.has(name)) continue;
      this.#nodes -= nodes.size;
      this.#clusters.delete(name);
    }
  }

  /** Adds the newest sample to the present minute, and passes on a minute that is over. */
  #sumUp(cluster: string, kept: Kept, nowMs: number): void {
    const { onMinute } = this.#sources;
    if (onMinute === undefined) return;
    const last = kept.minute;
    if (last !== null && nowMs - last.startedAtMs >= minuteMs) {
      onMinute({ cluster, atWallMs: last.atWallMs, lags: last.lags });
      kept.minute = null;
    }
    const minute = (kept.minute ??= { startedAtMs: nowMs, atWallMs: 0, lags: new Map() });
    minute.atWallMs = kept.times.at(-1) ?? 0;
    for (const [node, lags] of kept.nodes) {
      const [lag, most] = [lags.at(-1) ?? null, minute.lags.get(node) ?? null];
      minute.lags.set(node, lag === null || most === null ? (lag ?? most) : Math.max(lag, most));
    }
  }

  /** A new node was unknown before. */
  #begin({ nodes, times }: Kept, name: string): void {
    if (this.#nodes >= nodesMax) return;
    this.#nodes += 1;
    nodes.set(name, Array<number | null>(times.length - 1).fill(null));
  }

  #end({ nodes }: Kept, name: string): void {
    nodes.delete(name);
    this.#nodes -= 1;
  }
}

function newKept(): Kept {
  return { sampledAtMs: -Infinity, times: [], nodes: new Map(), minute: null };
}
