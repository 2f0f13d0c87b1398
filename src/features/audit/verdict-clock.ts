import type { FollowedCheck } from "../../core/balancing/audited/audit-target.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { hasSeenChange } from "../../core/events/detection/seen-change.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import type { Check } from "../../core/health/check.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import { type Allowances, poolAllowances } from "./core/allowance.ts";

/** What it depends on. */
export interface VerdictClockContext {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
}

interface FollowedCluster {
  judgedAtMs: number;
  /** The state that was judged, and up to when its verdicts hold, in ms of rolecall's clock. */
  judged: ClusterState | null;
  validUntilMs: number;
  readonly checks: Map<string, { readonly check: Check; allowances: Allowances }>;
}

/** The shortest time between two judgements of a cluster, in ms: no mechanism is faster. One more for each node. */
const repeatMs = 100;
/**
 * The same where only instants and positions have changed, as with each answer of a busy cluster: what follows from these
 * is seen a little later, or when it is asked for.
 */
const quietRepeatMs = 1_000;
/** How old a judgement may be where it is asked for, in ms. */
const sameLookMs = 20;

/**
 * Since when each node of some pools may have which sessions. Holds no timer: it judges when the state of a cluster has
 * changed, and when it is asked.
 */
export class VerdictClock {
  readonly #context: VerdictClockContext;
  #clusters: ReadonlyMap<string, FollowedCluster> = new Map();

  constructor(context: VerdictClockContext) {
    this.#context = context;
  }

  /** Follows these checks from now on. What is known of those that stay is kept. */
  follow(checks: readonly FollowedCheck[]): void {
    const next = new Map<string, FollowedCluster>();
    for (const { cluster, check } of checks) {
      const key = keyOf(check);
      const followed = next.get(cluster) ?? newCluster();
      const known = this.#clusters.get(cluster)?.checks.get(key);
      followed.checks.set(key, { check, allowances: known?.allowances ?? new Map() });
      next.set(cluster, followed);
    }
    this.#clusters = next;
  }

  /** Judges a cluster whose state may have changed. */
  clusterChanged(name: string): void {
    const followed = this.#clusters.get(name);
    const state = this.#context.cluster(name);
    if (followed === undefined || state === undefined) return;
    this.#judge(
      followed,
      state,
      Math.max(isQuiet(followed.judged, state) ? quietRepeatMs : repeatMs, state.nodes.length),
    );
  }

  /** The allowances of a pool now. */
  of({ cluster, check }: FollowedCheck): Allowances {
    const followed = this.#clusters.get(cluster);
    const state = this.#context.cluster(cluster);
    if (followed === undefined) return new Map();
    // The pools of one look are asked for one after the other.
    if (state !== undefined) this.#judge(followed, state, sameLookMs);
    return followed.checks.get(keyOf(check))?.allowances ?? new Map();
  }

  /** Judges a cluster, unless its verdicts hold. @param apartMs since the last time at least, in ms */
  #judge(followed: FollowedCluster, state: ClusterState, apartMs: number): void {
    const { policy, now } = this.#context;
    const nowMs = now();
    if (nowMs - followed.judgedAtMs < apartMs) return;
    if (state.revision === followed.judged?.revision && nowMs < followed.validUntilMs) return;
    const ofCluster = policy(state.name);
    if (ofCluster === undefined) return;
    followed.judgedAtMs = nowMs;
    followed.judged = state;
    followed.validUntilMs = Infinity;
    const view = viewAt(state, ofCluster, nowMs);
    for (const one of followed.checks.values()) {
      const { allowances, validUntilMs } = poolAllowances(view, one.check, one.allowances);
      one.allowances = allowances;
      followed.validUntilMs = Math.min(followed.validUntilMs, validUntilMs);
    }
  }
}

/** Whether nothing but instants and positions has changed since a state was judged. */
function isQuiet(judged: ClusterState | null, state: ClusterState): boolean {
  return judged !== null && judged.leadership === state.leadership && !hasSeenChange(judged, state);
}

function newCluster(): FollowedCluster {
  return { judgedAtMs: -Infinity, judged: null, validUntilMs: -Infinity, checks: new Map() };
}

const keys = new WeakMap<Check, string>();

function keyOf(check: Check): string {
  const known = keys.get(check) ?? JSON.stringify(check);
  keys.set(check, known);
  return known;
}
