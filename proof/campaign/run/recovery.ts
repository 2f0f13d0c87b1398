import { leaderRoute, type Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import type { ModelCluster } from "./model-cluster.ts";
import { limits } from "./rounds.ts";
import type { Fault } from "./scenario.ts";

/** How long a node that is still not fit after its bound is watched, in ms. */
const neverMs = 90_000;
/** How long the truth itself may take to settle, in ms. */
const settleMaxMs = 60_000;

/** How far the recovery of a cluster is. */
export interface RecoveryState {
  readonly isDone: boolean;
  /** How long it took, in ms; null while it goes on, and if it failed. */
  readonly recoveredMs: number | null;
  readonly violations: readonly Violation[];
}

/** Follows a cluster after its last fault: every sound node must be fit again within a bound. */
export class Recovery {
  readonly #cluster: ModelCluster;
  readonly #healedMs: number;
  readonly #boundMs: number;
  #lastBadMs = -Infinity;

  /** @param faults what was healed */
  constructor(cluster: ModelCluster, faults: readonly Fault[], healedMs: number) {
    this.#cluster = cluster;
    this.#healedMs = healedMs;
    // A discovered cluster may have followed a clone's member list: its documents rest up to 60 s.
    const hadGuest = faults.some(({ kind }) => kind === "guest" || kind === "reuse") && cluster.scene.isDiscovered;
    this.#boundMs = cluster.profile.recoveryMs + (hadGuest ? 65_000 : 0);
  }

  /**
   * Looks at the newest answers. Recovery counts from the last moment at which the truth itself was not healthy.
   */
  look(nowMs: number, latest: readonly Said[]): RecoveryState {
    const { profile, scene } = this.#cluster;
    if (!this.#cluster.isSettled(nowMs)) this.#lastBadMs = nowMs;
    const sinceMs = Math.max(this.#healedMs, this.#lastBadMs);
    const bad = this.#unfit(nowMs, latest);
    if (bad.length === 0 && nowMs - sinceMs > profile.loopMs && latest.length > 0)
      return { isDone: true, recoveredMs: nowMs - sinceMs, violations: [] };
    const boundMs = this.#boundMs + 2 * scene.stalls.within(sinceMs, nowMs);
    const violations: Violation[] = nowMs - sinceMs > boundMs ? [...bad] : [];
    const isOver = nowMs - sinceMs > boundMs + neverMs;
    if (isOver) violations.push(...bad.map((one) => ({ ...one, rule: "never-recovered" })));
    // The truth itself must settle, or the model is wrong.
    const isRestless = nowMs - this.#healedMs > settleMaxMs && sinceMs > nowMs - 1_000;
    if (isRestless)
      violations.push({ rule: "model", node: null, detail: "the modelled cluster does not come to rest" });
    return { isDone: isOver || isRestless, recoveredMs: null, violations };
  }

  #unfit(nowMs: number, latest: readonly Said[]): readonly Violation[] {
    const { world, troubles, scene } = this.#cluster;
    const isMoved = (node: string): boolean => troubles.last(node, "moved") >= nowMs - 2_000;
    // A replica is measured against the holder: against a clone that rolecall follows in its place, it is not sound.
    if (world.holding !== null && isMoved(world.holding.name)) return [];
    const wanted = new Map(
      world.nodes.map(
        ({ name }) =>
          [name, name === world.holding?.name ? leaderRoute(scene) : `/replica?lag=${limits.wide}`] as const,
      ),
    );
    return (
      latest
        .filter(({ node, check, status }) => node !== null && wanted.get(node) === check && status !== 200)
        // A clone at a node's address may keep the name permanently: they are indistinguishable (README).
        .filter(({ node }) => !isMoved(node ?? ""))
        .filter(({ word }) => word?.reason !== "superseded" || !this.#mayCloneLead(isMoved))
        // Neither of two claims stood before: with a clone in place of the only other node, that stays so.
        .filter(({ word }) => word?.reason !== "contested" || !this.#isOnlyOtherMoved(isMoved))
        .map(({ node, path, phrase }) => ({ rule: "recovery", node, detail: `${path}: still ${phrase}` }))
    );
  }

  /**
   * Whether a clone may have led before the holder did, in a cluster of two: no third node's view contradicts its
   * claim, and of two claims the one that stood before goes on (rule 2). A claim stands after half an interval. The
   * clone's claim, which its own view confirms, also wins against a holder whose own view is missing.
   */
  #mayCloneLead(isMoved: (node: string) => boolean): boolean {
    const { world, troubles, profile } = this.#cluster;
    const other = this.#onlyOther();
    if (other === null || !isMoved(other)) return false;
    const clonedMs = troubles.clonedSinceMs(other);
    if (world.holding !== null && !troubles.isFree(world.holding.name, clonedMs, "cluster")) return true;
    // The holder's claim is seen up to an interval after it began.
    return clonedMs + profile.intervalMs / 2 < (world.holding?.sinceMs ?? 0) + profile.intervalMs;
  }

  #isOnlyOtherMoved(isMoved: (node: string) => boolean): boolean {
    const other = this.#onlyOther();
    return other !== null && isMoved(other);
  }

  /** The node that does not hold the lock, in a cluster of two; null in a larger one. */
  #onlyOther(): string | null {
    const { world } = this.#cluster;
    const [other, ...more] = world.nodes.filter(({ name }) => name !== world.holding?.name);
    return other === undefined || more.length > 0 ? null : other.name;
  }
}
