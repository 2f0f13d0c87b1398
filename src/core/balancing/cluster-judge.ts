import type { ClusterState } from "../cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import { viewAt, type ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** What judging clusters depends on. */
export interface JudgeContext {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** An internal error in the judgement of a cluster. It reaches neither the probes nor the timers. */
  readonly onError: (cluster: string, error: unknown) => void;
}

/** Judges one cluster. @returns up to when the result holds without a change, in ms of rolecall's clock */
export type JudgeCluster = (name: string, view: ClusterView) => number;

/** What is known of a cluster that is judged. */
interface JudgedCluster {
  revision: number;
  validUntilMs: number;
  cancelTimer: CancelTimer | null;
}

/**
 * Some verdicts hold only at the instant of judging (a replica that lags behind a silent leader). Without a change they
 * are judged again after this time, in ms.
 */
const repeatMs = 100;
/** After an internal error a cluster is judged again in this time, in ms, even without a change. */
const retryMs = 1_000;
/** The longest delay of a timer in Node, in ms. */
const delayMaxMs = 2 ** 31 - 1;

/**
 * Judges clusters when their state has changed, and when time alone may change a verdict: one timer for each cluster.
 */
export class ClusterJudge {
  readonly #context: JudgeContext;
  readonly #judge: JudgeCluster;
  #clusters: ReadonlyMap<string, JudgedCluster> = new Map();

  constructor(context: JudgeContext, judge: JudgeCluster) {
    this.#context = context;
    this.#judge = judge;
  }

  /** Judges these clusters from now on, each at once. */
  follow(names: Iterable<string>): void {
    this.stop();
    this.#clusters = new Map(
      Array.from(names, (name) => [name, { revision: -1, validUntilMs: -Infinity, cancelTimer: null }]),
    );
    for (const name of this.#clusters.keys()) this.clusterChanged(name);
  }

  /** Judges a cluster whose state may have changed. Does not throw: after an internal error it is judged again. */
  clusterChanged(name: string): void {
    const judged = this.#clusters.get(name);
    if (judged === undefined) return;
    try {
      this.#update(name, judged);
    } catch (error) {
      this.#context.onError(name, error);
      judged.revision = -1;
      judged.validUntilMs = -Infinity;
      this.#schedule(name, judged, retryMs);
    }
  }

  /** Judges all clusters again: something else than their state has changed. */
  judgeAgain(): void {
    for (const [name, judged] of this.#clusters) {
      judged.validUntilMs = -Infinity;
      this.clusterChanged(name);
    }
  }

  /** Judges nothing any more, and ends all timers. */
  stop(): void {
    for (const { cancelTimer } of this.#clusters.values()) cancelTimer?.();
    this.#clusters = new Map();
  }

  #update(name: string, judged: JudgedCluster): void {
    const cluster = this.#context.cluster(name);
    const policy = this.#context.policy(name);
    if (cluster === undefined || policy === undefined) return;
    const nowMs = this.#context.now();
    if (cluster.revision === judged.revision && nowMs < judged.validUntilMs) return;
    const validUntilMs = this.#judge(name, viewAt(cluster, policy, nowMs));
    judged.revision = cluster.revision;
    judged.validUntilMs = validUntilMs;
    this.#schedule(name, judged, validUntilMs - nowMs);
  }

  #schedule(name: string, judged: JudgedCluster, delayMs: number): void {
    judged.cancelTimer?.();
    judged.cancelTimer = null;
    if (delayMs === Infinity) return;
    const waitMs = delayMs > 0 ? Math.min(delayMaxMs, Math.ceil(delayMs)) : repeatMs;
    judged.cancelTimer = this.#context.setTimer(() => this.#onTimer(name, judged), waitMs);
  }

  /** A timer may fire slightly early, or before a time that is too far away for one timer. */
  #onTimer(name: string, judged: JudgedCluster): void {
    const leftMs = judged.validUntilMs - this.#context.now();
    if (leftMs > 0) this.#schedule(name, judged, leftMs);
    else this.clusterChanged(name);
  }
}
