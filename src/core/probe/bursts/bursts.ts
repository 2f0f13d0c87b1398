import type { HintEffect } from "../../cluster/hint.ts";
import { stateCauses, type StateCause } from "../../health/rules/burst-causes.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { PeriodicTask } from "../schedule/periodic-task.ts";
import { isPutOff } from "../schedule/own-wait.ts";
import { BurstBudget } from "./burst-budget.ts";
import { NamedBursts } from "./named-bursts.ts";

/**
 * Why a cluster is probed in a burst: a cause of its state; `new_claim`: a node claims the lock; `hint`: something
 * outside the probes announced a change.
 */
export type BurstCause = StateCause | "new_claim" | "hint";

/** The longest burst for one cause, in ms (rule 12). */
const causeMaxMs = 10_000;
/** How long a burst lasts after another node claims the lock, and after a hint, in ms. */
const lengthMs = { new_claim: 2_000, hint: 5_000 } as const;
/** How much time all bursts of a cluster may use in 10 minutes, in ms. */
const budgetMs = 60_000;
/**
 * How much of it hints alone may use, in ms. The rest stays for changes that probes see, even if someone sends hints
 * all the time.
 */
const hintBudgetMs = 30_000;

/** What bursts probe. */
export interface BurstTargets {
  /** Probes a node unless a probe of it is in flight. @returns how many probes were sent */
  readonly probe: (node: string) => number;
  /** Probes all nodes that no probe is in flight to. */
  readonly probeAll: () => void;
}

interface Phase {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Probes the nodes of one cluster more often while its leadership is about to change (rule 12). Each cause lasts 10 s
 * at most, all together 60 s in 10 minutes, of which hints alone may use 30 s. Without a cause nothing runs.
 */
export class Bursts {
  readonly #context: ProbeContext;
  readonly #targets: BurstTargets;
  readonly #budget = new BurstBudget(budgetMs);
  readonly #hintBudget = new BurstBudget(hintBudgetMs);
  readonly #phases = new Map<BurstCause, Phase>();
  readonly #task: PeriodicTask;
  readonly #named: NamedBursts;
  #lastMs = -Infinity;

  constructor(context: ProbeContext, targets: BurstTargets) {
    this.#context = context;
    this.#targets = targets;
    this.#task = new PeriodicTask(async () => this.#tick(), { now: context.now, setTimer: context.setTimer });
    this.#named = new NamedBursts(context, {
      probe: (node) => this.#probe(node),
      mayBurst: (nowMs) => this.#mayBurst(nowMs),
      spend: (nowMs, ms) => this.#spend(nowMs, ms),
    });
  }

  /** To be called with every change of the cluster's state: begins and ends bursts whose cause is in the state. */
  update(): void {
    if (this.#task.isStopped) return;
    const nowMs = this.#context.now();
    const nextAtMs = this.#settle(nowMs);
    const dueMs = Math.max(nowMs, this.#lastMs + this.#context.schedule.burstIntervalMs);
    this.#task.runBy(this.#isBursting(nowMs) ? dueMs : nextAtMs);
  }

  /** To be called after a reload: counts the time that bursts use anew. The bursts that run go on. */
  renew(): void {
    this.#budget.renew();
    this.#hintBudget.renew();
    this.update();
  }

  /**
   * Another node, `node`, claims the lock. It is probed as if a hint had named it, because it holds the lock before it
   * is promoted. The change that hints announced is seen now, so their burst of all nodes ends.
   */
  claimed(node: string): void {
    if (this.#task.isStopped) return;
    this.#phases.delete("hint");
    this.#begin("new_claim");
    this.#named.begin(node);
  }

  /**
   * Something outside the probes announced a change: a management call, the DCS, `POST /hint`. A hint that is repeated
   * lengthens its burst, to 10 s at most.
   * @param node the node that it names, or `null` for the whole cluster
   */
  hint(node: string | null): HintEffect {
    if (this.#task.isStopped) return "unknown";
    if (node !== null) return this.#nameNode(node);
    const nowMs = this.#context.now();
    if (!this.#mayBurst(nowMs)) return "spent";
    const isRunning = this.#isHinted(nowMs);
    this.#begin("hint");
    return isRunning ? "running" : "begun";
  }

  /** Ends all bursts. */
  stop(): void {
    this.#task.stop();
    this.#named.stop();
  }

  #nameNode(node: string): HintEffect {
    const effect = this.#named.begin(node);
    if (effect === "begun") this.#context.onBurst?.({ cluster: this.#context.cluster, cause: "hint" });
    return effect;
  }

  #begin(cause: "new_claim" | "hint"): void {
    const nowMs = this.#context.now();
    const present = this.#phases.get(cause);
    const sinceMs = present !== undefined && nowMs < present.untilMs ? present.sinceMs : nowMs;
    this.#setPhase(cause, { sinceMs, untilMs: Math.min(nowMs + lengthMs[cause], sinceMs + causeMaxMs) });
    this.update();
  }

  /** Begins and ends the phases of causes in the state. @returns when to look again, in ms of the clock */
  #settle(nowMs: number): number {
    const { state, policy } = this.#context;
    const { causes, nextAtMs } = stateCauses(state(), { policy: policy(), nowMs });
    for (const cause of causes) {
      if (!this.#phases.has(cause)) this.#setPhase(cause, { sinceMs: nowMs, untilMs: nowMs + causeMaxMs });
    }
    for (const cause of this.#phases.keys()) {
      if (cause !== "new_claim" && cause !== "hint" && !causes.includes(cause)) this.#phases.delete(cause);
    }
    return nextAtMs;
  }

  #setPhase(cause: BurstCause, phase: Phase): void {
    const isNew = this.#phases.get(cause)?.sinceMs !== phase.sinceMs;
    this.#phases.set(cause, phase);
    if (isNew && this.#mayBurst(phase.sinceMs)) this.#context.onBurst?.({ cluster: this.#context.cluster, cause });
  }

  #isBursting(nowMs: number): boolean {
    return (this.#hasOwnCause(nowMs) || this.#isHinted(nowMs)) && this.#mayBurst(nowMs);
  }

  /** Whether any budget is left. While the probes see a change themselves, the share of hints bounds nothing. */
  #mayBurst(nowMs: number): boolean {
    return this.#budget.isLeft(nowMs) && (this.#hasOwnCause(nowMs) || this.#hintBudget.isLeft(nowMs));
  }

  #spend(nowMs: number, ms: number): void {
    this.#budget.spend(nowMs, ms);
    if (!this.#hasOwnCause(nowMs)) this.#hintBudget.spend(nowMs, ms);
  }

  /** Whether something that the probes saw is a cause now. */
  #hasOwnCause(nowMs: number): boolean {
    for (const [cause, { untilMs }] of this.#phases) if (cause !== "hint" && nowMs < untilMs) return true;
    return false;
  }

  #isHinted(nowMs: number): boolean {
    return nowMs < (this.#phases.get("hint")?.untilMs ?? -Infinity);
  }

  #tick(): number {
    const nowMs = this.#context.now();
    const nextAtMs = this.#settle(nowMs);
    if (!this.#isBursting(nowMs)) return nextAtMs - nowMs;
    const { burstIntervalMs } = this.#context.schedule;
    this.#lastMs = nowMs;
    // The answers that wait tell as much, and sooner.
    if (isPutOff(this.#context, this.#hasStateCause(nowMs) ? "urgent" : "other")) return burstIntervalMs;
    this.#spend(nowMs, burstIntervalMs);
    this.#targets.probeAll();
    return burstIntervalMs;
  }

  /** Of several clusters, those go first that have no primary. */
  #hasStateCause(nowMs: number): boolean {
    for (const [cause, { untilMs }] of this.#phases)
      if (cause !== "hint" && cause !== "new_claim" && nowMs < untilMs) return true;
    return false;
  }

  #probe(node: string): number {
    const probes = this.#targets.probe(node);
    this.#context.onBurstProbes?.({ cluster: this.#context.cluster, probes });
    return probes;
  }
}
