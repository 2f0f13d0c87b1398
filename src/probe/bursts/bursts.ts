import { nodeNamed } from "../../cluster/lookup.ts";
import { lockHolderOf } from "../../cluster/leadership.ts";
import { stateCauses, type StateCause } from "../../health/judge/burst-causes.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { BurstBudget } from "./burst-budget.ts";
import { PeriodicTask } from "../schedule/periodic-task.ts";

/**
 * Why a cluster is probed in a burst: a cause of its state; `new_claim`: another claim stands; `hint`: something
 * outside the probes announced a change.
 */
export type BurstCause = StateCause | "new_claim" | "hint";

/** The longest burst for one cause, in ms (design.md, rule 12). */
const causeMaxMs = 10_000;
/** How long a burst lasts after another claim stands, and after a hint, in ms. */
const lengthMs = { new_claim: 2_000, hint: 5_000 } as const;
/** Time between two probes of a node that a hint names, in ms. */
const namedIntervalMs = 50;

/** What bursts probe, and what they report. */
export interface BurstTargets {
  /**
   * Probes a node, or all nodes with `null`, where no probe is in flight.
   * @returns how many probes were sent
   */
  readonly probe: (node: string | null) => number;
}

interface Phase {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Probes the nodes of one cluster more often while its leadership is about to change (design.md, rule 12). Each cause
 * lasts 10 s at most, all together 60 s in 10 minutes. Without a cause nothing runs.
 */
export class Bursts {
  readonly #context: ProbeContext;
  readonly #targets: BurstTargets;
  readonly #budget = new BurstBudget();
  readonly #phases = new Map<BurstCause, Phase>();
  readonly #task: PeriodicTask;
  readonly #named = new Map<string, PeriodicTask>();
  #lastMs = -Infinity;
  #isStopped = false;

  constructor(context: ProbeContext, targets: BurstTargets) {
    this.#context = context;
    this.#targets = targets;
    this.#task = new PeriodicTask(() => this.#tick(), { now: context.now });
  }

  /** To be called with every change of the cluster's state: begins and ends bursts whose cause is in the state. */
  update(): void {
    if (this.#isStopped) return;
    const nowMs = this.#context.now();
    const nextAtMs = this.#settle(nowMs);
    const dueMs = Math.max(nowMs, this.#lastMs + this.#context.schedule.burstIntervalMs);
    this.#task.runBy(this.#isBursting(nowMs) ? dueMs : nextAtMs);
  }

  /** Another claim on the lock stands. */
  claimed(): void {
    this.#begin("new_claim");
  }

  /**
   * Something outside the probes announced a change: a management call, the DCS, `POST /hint`.
   * @param node the node that it names, or `null` for the whole cluster
   */
  hint(node: string | null): void {
    if (node === null) this.#begin("hint");
    else this.#beginNamed(node);
  }

  /** Ends all bursts. */
  stop(): void {
    this.#isStopped = true;
    this.#task.stop();
    for (const task of this.#named.values()) task.stop();
    this.#named.clear();
  }

  #begin(cause: "new_claim" | "hint"): void {
    if (this.#isStopped) return;
    const nowMs = this.#context.now();
    const present = this.#phases.get(cause);
    const sinceMs = present !== undefined && nowMs < present.untilMs ? present.sinceMs : nowMs;
    this.#setPhase(cause, { sinceMs, untilMs: Math.min(nowMs + lengthMs[cause], sinceMs + causeMaxMs) });
    this.update();
  }

  /** Begins and ends the phases of causes in the state. @returns when to look again, in ms of the clock */
  #settle(nowMs: number): number {
    const { state, policy } = this.#context;
    const { causes, nextAtMs } = stateCauses(state(), { policy, nowMs });
    for (const cause of causes) {
      if (!this.#phases.has(cause)) this.#setPhase(cause, { sinceMs: nowMs, untilMs: nowMs + causeMaxMs });
    }
    for (const [cause, { untilMs }] of this.#phases) {
      const isOver = cause === "new_claim" || cause === "hint" ? nowMs >= untilMs : !causes.includes(cause);
      if (isOver) this.#phases.delete(cause);
    }
    return nextAtMs;
  }

  #setPhase(cause: BurstCause, phase: Phase): void {
    const isNew = this.#phases.get(cause)?.sinceMs !== phase.sinceMs;
    this.#phases.set(cause, phase);
    if (isNew) this.#context.onBurst?.({ cluster: this.#context.cluster, cause });
  }

  #isBursting(nowMs: number): boolean {
    for (const { untilMs } of this.#phases.values()) if (nowMs < untilMs) return this.#budget.isLeft(nowMs);
    return false;
  }

  async #tick(): Promise<number> {
    const nowMs = this.#context.now();
    const nextAtMs = this.#settle(nowMs);
    if (!this.#isBursting(nowMs)) return nextAtMs - nowMs;
    const { burstIntervalMs } = this.#context.schedule;
    this.#lastMs = nowMs;
    this.#budget.spend(nowMs, burstIntervalMs);
    this.#probe(null);
    return burstIntervalMs;
  }

  #probe(node: string | null): void {
    const probes = this.#targets.probe(node);
    this.#context.onBurstProbes?.({ cluster: this.#context.cluster, probes });
  }

  /** Probes one node every 50 ms until it is writable, for 10 s at most. */
  #beginNamed(node: string): void {
    if (this.#isStopped || this.#named.has(node) || nodeNamed(this.#context.state(), node) === undefined) return;
    const untilMs = this.#context.now() + causeMaxMs;
    const task = new PeriodicTask(
      async () => {
        const nowMs = this.#context.now();
        if (nowMs >= untilMs || this.#isWritable(node) || !this.#budget.isLeft(nowMs)) {
          this.#named.delete(node);
          return Infinity;
        }
        this.#budget.spend(nowMs, namedIntervalMs);
        this.#probe(node);
        return namedIntervalMs;
      },
      { now: this.#context.now },
    );
    this.#named.set(node, task);
    this.#context.onBurst?.({ cluster: this.#context.cluster, cause: "hint" });
    void task.run();
  }

  #isWritable(node: string): boolean {
    const { state, policy, now } = this.#context;
    const cluster = state();
    return (
      lockHolderOf(cluster.leadership) === node && stateCauses(cluster, { policy, nowMs: now() }).causes.length === 0
    );
  }
}
