import { lockHolderOf } from "../../cluster/leadership.ts";
import type { HintEffect } from "../../cluster/hint.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import { stateCauses } from "../../health/rules/burst-causes.ts";
import type { ProbeContext } from "../client/probe-context.ts";
import { isPutOff } from "../schedule/own-wait.ts";
import { PeriodicTask } from "../schedule/periodic-task.ts";

/** The longest burst of one node, in ms (rule 12). */
const burstMaxMs = 10_000;
/** The shortest time between two probes of named nodes, in ms. */
const namedIntervalMs = 50;
/** How soon after that a node is looked at again whose probe is still in flight, in ms. */
const busyMs = 10;

/** What bursts of named nodes depend on. */
export interface NamedBurstsContext {
  /** Probes a node, if no probe of it is in flight. @returns how many probes were sent */
  readonly probe: (node: string) => number;
  /** Whether a hint may be followed now. */
  readonly mayBurst: (nowMs: number) => boolean;
  /** Records the use of the budget from now on for `ms`. */
  readonly spend: (nowMs: number, ms: number) => void;
}

/**
 * Probes a node until it is writable, for 10 s at most: one that a hint names, or that claims the lock before its
 * promotion. A probe is sent every 50 ms, or as soon as a slower one has ended. Several nodes take turns.
 */
export class NamedBursts {
  readonly #probing: ProbeContext;
  readonly #context: NamedBurstsContext;
  readonly #task: PeriodicTask;
  /** When the burst of each named node ends, in ms of the clock; the node whose turn is next comes first. */
  readonly #untilMs = new Map<string, number>();
  #lastMs = -Infinity;

  constructor(probing: ProbeContext, context: NamedBurstsContext) {
    this.#probing = probing;
    this.#context = context;
    this.#task = new PeriodicTask(async () => this.#tick(), { now: probing.now, setTimer: probing.setTimer });
  }

  /** Begins the burst of a node, unless it is known to be writable. */
  begin(node: string): HintEffect {
    const nowMs = this.#probing.now();
    if (nodeNamed(this.#probing.state(), node) === undefined) return "unknown";
    if (this.#isWritable(node)) return "writable";
    if (!this.#context.mayBurst(nowMs)) return "spent";
    if ((this.#untilMs.get(node) ?? -Infinity) > nowMs) return "running";
    this.#untilMs.set(node, nowMs + burstMaxMs);
    this.#task.runBy(Math.max(nowMs, this.#lastMs + namedIntervalMs));
    return "begun";
  }

  /** Ends all bursts. */
  stop(): void {
    this.#task.stop();
    this.#untilMs.clear();
  }

  #tick(): number {
    const nowMs = this.#probing.now();
    const cluster = this.#probing.state();
    for (const [node, untilMs] of this.#untilMs)
      if (nowMs >= untilMs || nodeNamed(cluster, node) === undefined || this.#isWritable(node))
        this.#untilMs.delete(node);
    if (!this.#context.mayBurst(nowMs)) this.#untilMs.clear();
    const [turn] = this.#untilMs;
    if (turn === undefined) return Infinity;
    if (isPutOff(this.#probing, "urgent")) return namedIntervalMs;
    const [node, untilMs] = turn;
    this.#untilMs.delete(node);
    this.#untilMs.set(node, untilMs);
    const nextMs = this.#context.probe(node) > 0 ? namedIntervalMs : busyMs;
    if (nextMs === namedIntervalMs) this.#lastMs = nowMs;
    this.#context.spend(nowMs, nextMs);
    return nextMs;
  }

  #isWritable(node: string): boolean {
    const { state, policy, now } = this.#probing;
    const cluster = state();
    return (
      lockHolderOf(cluster.leadership) === node &&
      stateCauses(cluster, { policy: policy(), nowMs: now() }).causes.length === 0
    );
  }
}
