import { wholeDiffers } from "../oracle/consistency.ts";
import type { Violation } from "../oracle/scene.ts";
import { questionOf, type Question, type Said } from "../rolecall/asker.ts";
import { limits } from "../run/rounds.ts";
import type { VirtualAsker } from "./virtual-asker.ts";
import type { VirtualCluster } from "./virtual-cluster.ts";

/** One round of questions, and what the oracle says of the answers. */
export interface VirtualRound {
  readonly answers: readonly Said[];
  readonly violations: readonly Violation[];
}

/**
 * Asks about a simulated cluster: each round every node as a primary, and as a replica with one of several limits in
 * turn. No time passes in a round, so all answers are of one snapshot.
 */
export class VirtualRounds {
  readonly #cluster: VirtualCluster;
  readonly #asker: VirtualAsker;
  readonly #primaries: readonly Question[];
  readonly #turns: readonly (readonly Question[])[];
  readonly #wholes: readonly Question[];
  #turn = 0;

  constructor(cluster: VirtualCluster, asker: VirtualAsker) {
    this.#cluster = cluster;
    this.#asker = asker;
    const each = (check: string): readonly Question[] =>
      cluster.world.nodes.map(({ name }) => questionOf(cluster.name, name, check));
    this.#primaries = each("/primary");
    const { lagTimeMs } = cluster.profile;
    this.#turns = [
      each(`/replica?lag=${limits.wide}`),
      each(`/replica?lag=${limits.bytes}`),
      each(`/replica?lag_time=${lagTimeMs}ms`),
      each(`/replica?lag=${limits.wide}`),
      each("/replica"),
      each("/replica?miss=404&unknown=500"),
    ];
    this.#wholes = ["/primary", "/replica"].map((check) => questionOf(cluster.name, null, check));
  }

  /** The next round. @param isRecovering asks only what a recovered cluster must answer with a yes */
  next(nowMs: number, isRecovering: boolean): VirtualRound {
    const cluster = this.#cluster;
    this.#turn += 1;
    const at = isRecovering ? 0 : this.#turn % this.#turns.length;
    const primaries = this.#ask(this.#primaries);
    const replicas = this.#ask(this.#turns[at] ?? []);
    const answers = [...primaries, ...replicas];
    cluster.oracle.feed(cluster.scene, nowMs);
    const violations = [...cluster.oracle.judge(cluster.scene, answers)];
    if (at === 4 || at === 0) {
      const whole = this.#wholes[at === 0 ? 0 : 1];
      const detail = whole === undefined ? null : this.#wholeDiffers(whole, at === 0 ? primaries : replicas);
      if (detail !== null) violations.push({ rule: "whole-cluster", node: null, detail });
    }
    return { answers, violations };
  }

  #ask(questions: readonly Question[]): readonly Said[] {
    return questions.map((question) => this.#asker.askNow(question));
  }

  #wholeDiffers(whole: Question, nodes: readonly Said[]): string | null {
    return wholeDiffers(nodes, this.#asker.askNow(whole), nodes);
  }
}
