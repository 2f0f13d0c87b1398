import { sessionsDiffer, wholeDiffers } from "../oracle/consistency.ts";
import type { Violation } from "../oracle/scene.ts";
import { questionOf, type Question, type Said } from "../rolecall/asker.ts";
import { limits } from "../run/rounds.ts";
import { syncMax } from "../world/mode.ts";
import type { VirtualAsker } from "./virtual-asker.ts";
import type { VirtualCluster } from "./virtual-cluster.ts";
import { WrittenPositions } from "./written-positions.ts";

/** The checks that depend on synchronous replication: one in each round, where a cluster has it. */
const synchronyChecks = ["/sync", "/async", "/read-only-sync", "/quorum", "/read-only-quorum"];

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
  readonly #judge: Pick<VirtualCluster, "oracle" | "scene">;
  readonly #asker: VirtualAsker;
  readonly #primaries: readonly Question[];
  readonly #turns: readonly (readonly Question[])[];
  readonly #synchrony: readonly (readonly Question[])[];
  readonly #wholes: readonly Question[];
  readonly #written: WrittenPositions;
  #turn = 0;

  /** @param judge what judges the answers: of several instances each has its own */
  constructor(cluster: VirtualCluster, asker: VirtualAsker, judge: Pick<VirtualCluster, "oracle" | "scene"> = cluster) {
    this.#cluster = cluster;
    this.#judge = judge;
    this.#asker = asker;
    this.#written = new WrittenPositions(cluster.world);
    const each = (check: string): readonly Question[] => this.#each(check);
    const { mode } = cluster.shape;
    this.#primaries = [...each("/primary"), ...(mode === "standby" ? each("/standby-leader") : [])];
    this.#synchrony = syncMax[mode] > 0 ? synchronyChecks.map(each) : [];
    const { lagTimeMs } = cluster.profile;
    this.#turns = [
      each(`/replica?lag=${limits.wide}`),
      [...each(`/replica?lag=${limits.bytes}`), ...each(`/replica?lag_time=${lagTimeMs}ms`)],
      each(`/replica?lag_time=${lagTimeMs}ms`),
      [],
      each("/replica"),
      [...each("/replica?miss=404&unknown=500"), ...each(`/replica?lag_time=${lagTimeMs}ms`)],
      [],
    ];
    this.#wholes = ["/primary", "/replica"].map((check) => questionOf(cluster.name, null, check));
  }

  /** The next round. @param isRecovering asks only what a recovered cluster must answer with a yes */
  next(nowMs: number, isRecovering: boolean): VirtualRound {
    const cluster = this.#cluster;
    this.#turn += 1;
    const at = isRecovering ? 0 : this.#turn % this.#turns.length;
    const primaries = this.#ask(this.#primaries);
    this.#written.write();
    const replicas = this.#ask(at === 3 || at === 6 ? this.#readers() : (this.#turns[at] ?? []));
    const synchrony = this.#ask(this.#synchrony[this.#turn % this.#synchrony.length] ?? []);
    const answers = [...primaries, ...replicas, ...synchrony];
    cluster.noteMoves(nowMs);
    const { oracle, scene } = this.#judge;
    oracle.feed(scene, nowMs);
    const violations = [...oracle.judge(scene, answers)];
    if (at === 4 || at === 0) {
      const whole = this.#wholes[at === 0 ? 0 : 1];
      const detail =
        whole === undefined
          ? null
          : this.#wholeDiffers(whole, at === 0 ? primaries.filter(({ check }) => check === "/primary") : replicas);
      if (detail !== null) violations.push({ rule: "whole-cluster", node: null, detail });
      violations.push(...this.#sessionsDiffer(at === 0 ? primaries : replicas));
    }
    return { answers, violations };
  }

  #each(check: string): readonly Question[] {
    return this.#cluster.world.nodes.map(({ name }) => questionOf(this.#cluster.name, name, check));
  }

  /** Clients that read what they have written. */
  #readers(): readonly Question[] {
    const lsn = this.#written.at(this.#turn);
    return lsn === null ? [] : this.#each(`/replica?min_lsn=${lsn}`);
  }

  #ask(questions: readonly Question[]): readonly Said[] {
    return questions.map((question) => this.#asker.askNow(question));
  }

  #sessionsDiffer(answers: readonly Said[]): readonly Violation[] {
    return answers.flatMap((answer) => {
      const { node, check, path } = answer;
      const sessions = { path: `${path}?for=sessions`, check: `${check}?for=sessions` };
      const detail = sessionsDiffer(answer, this.#asker.askNow({ method: "GET", node, ...sessions }));
      return detail === null ? [] : [{ rule: "sessions", node, detail: `${check}: ${detail}` }];
    });
  }

  #wholeDiffers(whole: Question, nodes: readonly Said[]): string | null {
    return wholeDiffers(nodes, this.#asker.askNow(whole), nodes);
  }
}
