import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { lagOfNodes } from "../../core/health/evidence/position/present-lag.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";

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
}

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
    kept.sampledAtMs = nowMs;
    kept.times = [...kept.times, this.#sources.wall()].slice(-samplesMax);
    const known = lagOfNodes(viewAt(cluster, policy, nowMs));
    for (const name of known.keys()) if (!kept.nodes.has(name)) this.#begin(kept, name);
    for (const [name, lags] of kept.nodes) {
      lags.push(known.get(name) ?? null);
      if (lags.length > kept.times.length) lags.splice(0, lags.length - kept.times.length);
      if (!known.has(name) && lags.every((value) => value === null)) this.#end(kept, name);
    }
  }

  /** The samples of a cluster; none if there are none. */
  of(cluster: string): LagSeries {
    const kept = this.#clusters.get(cluster);
    return { at: kept?.times ?? [], nodes: Object.fromEntries(kept?.nodes ?? []) };
  }

  /** Forgets all other clusters. */
  retain(clusters: ReadonlySet<string>): void {
    for (const [name, { nodes }] of this.#clusters) {
      if (clusters.has(name)) continue;
      this.#nodes -= nodes.size;
      this.#clusters.delete(name);
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
  return { sampledAtMs: -Infinity, times: [], nodes: new Map() };
}
