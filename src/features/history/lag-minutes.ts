import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { lagOfNodes } from "../../core/health/evidence/position/present-lag.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import type { LagMinute } from "./store/history-lines.ts";

/** The time between two samples, and what they are summed up to, in ms. */
const stepMs = 5_000;
const minuteMs = 60_000;

/** What samples are taken from. */
interface LagMinutesSources {
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** In ms since the epoch. */
  readonly wall: () => number;
  /** Called after each minute of a cluster. */
  readonly onMinute: (minute: LagMinute) => void;
}

/** What the present minute of a cluster has so far. */
interface PresentMinute {
  readonly startedAtMs: number;
  readonly sampledAtMs: number;
  readonly atWallMs: number;
  readonly lags: ReadonlyMap<string, number | null>;
}

/**
 * Sums up the lag of each minute. A sample is taken while evidence arrives, so without a change it needs no timer. Holds
 * one minute of each cluster.
 */
export class LagMinutes {
  readonly #sources: LagMinutesSources;
  readonly #minutes = new Map<string, PresentMinute>();

  constructor(sources: LagMinutesSources) {
    this.#sources = sources;
  }

  /** To be called with each state of a cluster. Most calls do nothing: samples are 5 s apart. */
  sample(cluster: ClusterState): void {
    const { policy: policyOf, now, wall, onMinute } = this.#sources;
    const nowMs = now();
    const last = this.#minutes.get(cluster.name);
    if (last !== undefined && nowMs - last.sampledAtMs < stepMs) return;
    const policy = policyOf(cluster.name);
    if (policy === undefined) return;
    const isOver = last !== undefined && nowMs - last.startedAtMs >= minuteMs;
    if (isOver) onMinute({ cluster: cluster.name, atWallMs: last.atWallMs, lags: last.lags });
    const [startedAtMs, lags] =
      last === undefined || isOver ? [nowMs, new Map<string, number | null>()] : [last.startedAtMs, new Map(last.lags)];
    for (const [node, lag] of lagOfNodes(viewAt(cluster, policy, nowMs))) {
      const most = lags.get(node) ?? null;
      lags.set(node, lag === null || most === null ? (lag ?? most) : Math.max(lag, most));
    }
    this.#minutes.set(cluster.name, { startedAtMs, sampledAtMs: nowMs, atWallMs: wall(), lags });
  }

  /** Forgets all other clusters. */
  retain(clusters: readonly string[]): void {
    for (const name of this.#minutes.keys()) if (!clusters.includes(name)) this.#minutes.delete(name);
  }
}
