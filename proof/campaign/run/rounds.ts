import { headDiffers, wholeDiffers } from "../oracle/consistency.ts";
import type { Violation } from "../oracle/scene.ts";
import { type Asks, type Question, questionOf, type Said } from "../rolecall/asker.ts";
import type { ModelCluster } from "./model-cluster.ts";

/** The limits in bytes that every campaign requests. */
export const limits = { bytes: 65_536, wide: 67_108_864 } as const;

/** One round of questions about a cluster, and what is wrong with the answers. */
export interface Round {
  readonly answers: readonly Said[];
  readonly violations: readonly Violation[];
}

/** Sends all questions about a cluster, some of them in rotation, and judges the responses. */
export class Rounds {
  #turn = 0;

  readonly #cluster: ModelCluster;
  readonly #asker: Asks;
  readonly #operator: Asks | null;
  readonly #now: () => number;

  constructor(cluster: ModelCluster, asker: Asks, operator: Asks | null, now: () => number) {
    this.#cluster = cluster;
    this.#asker = asker;
    this.#operator = operator;
    this.#now = now;
  }

  async next(): Promise<Round> {
    const cluster = this.#cluster;
    this.#turn += 1;
    const names = cluster.world.nodes.map(({ name }) => name);
    const every = names.flatMap((node) => [
      this.#question(node, "/primary"),
      this.#question(node, `/replica?lag=${limits.wide}`),
    ]);
    const extra = this.#extra(names);
    const answers = await this.#asker.ask([...every, ...extra]);
    cluster.oracle.feed(cluster.scene, this.#now());
    const violations = [
      ...cluster.oracle.judge(cluster.scene, answers),
      ...this.#compared(answers.slice(every.length)),
    ];
    if (this.#turn % 40 === 0) violations.push(...(await this.#explained(names)));
    return { answers, violations };
  }

  #question(node: string | null, check: string, method: "GET" | "HEAD" = "GET"): Question {
    return questionOf(this.#cluster.name, node, check, method);
  }

  #extra(names: readonly string[]): readonly Question[] {
    const each = (check: string): Question[] => names.map((node) => this.#question(node, check));
    const one = names[this.#turn % names.length] ?? null;
    switch (this.#turn % 6) {
      case 0:
        return each(`/replica?lag=${limits.bytes}`);
      case 1:
        return each(`/replica?lag_time=${this.#cluster.profile.lagTimeMs}ms`);
      case 2:
        return [...each("/primary"), this.#question(null, "/primary"), ...each("/primary")];
      case 3:
        return [...each("/replica"), this.#question(null, "/replica"), ...each("/replica")];
      case 4:
        return ["GET" as const, "HEAD" as const, "GET" as const].map((method) =>
          this.#question(one, "/primary", method),
        );
      default:
        return each("/replica?miss=404&unknown=500");
    }
  }

  #compared(extra: readonly Said[]): readonly Violation[] {
    const size = this.#cluster.world.nodes.length;
    const turn = this.#turn % 6;
    const [first, second, third] = extra;
    if (turn === 4 && first !== undefined && second !== undefined && third !== undefined) {
      return asViolations("head", first.node, headDiffers(first, second, third));
    }
    const whole = extra[size];
    if ((turn !== 2 && turn !== 3) || whole === undefined) return [];
    return asViolations("whole-cluster", null, wholeDiffers(extra.slice(0, size), whole, extra.slice(size + 1)));
  }

  /** An explanation says the same as the answers before and after it, where those agree. */
  async #explained(names: readonly string[]): Promise<readonly Violation[]> {
    const operator = this.#operator;
    const node = names[this.#turn % names.length];
    if (operator === null || node === undefined) return [];
    const check = this.#turn % 80 === 0 ? "/primary" : "/replica";
    const before = await this.#asker.ask([this.#question(node, check)]);
    const path = `/explain?cluster=${this.#cluster.name}&node=${node}&check=${check}`;
    const [explained] = await operator.ask([{ method: "GET", path, node, check }]);
    const after = await this.#asker.ask([this.#question(node, check)]);
    const [one, two] = [before[0], after[0]];
    if (one === undefined || two === undefined || explained === undefined) return [];
    // rolecall renders one page at a time. The other requests must retry.
    if (explained.status === 429) return [];
    if (explained.status !== 200)
      return asViolations("explain", node, `${path}: ${explained.status} ${explained.phrase}`);
    if (one.word?.snapshot !== two.word?.snapshot || one.word?.reason !== two.word?.reason) return [];
    const explanation = JSON.parse(explained.body) as { readonly fit?: boolean; readonly reason?: string | null };
    const isSame =
      explanation.fit === (one.status === 200) && (explanation.reason ?? null) === (one.word?.reason ?? null);
    return isSame
      ? []
      : asViolations(
          "explain",
          node,
          `${check}: answered ${one.phrase}, explained ${explanation.fit} ${explanation.reason}`,
        );
  }
}

function asViolations(rule: string, node: string | null, detail: string | null): readonly Violation[] {
  return detail === null ? [] : [{ rule, node, detail }];
}
