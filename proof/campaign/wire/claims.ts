import type { Evidence } from "./evidence.ts";
import { documentOf, type Served } from "./served.ts";

/** When the first and the newest answer of a claim of the lock were requested, in ms. */
export interface Claim {
  readonly firstMs: number;
  readonly newestMs: number;
}

type Answers = Pick<Evidence, "scope" | "since" | "isSure" | "isPossible" | "suspendedMs">;

/** The claims of the lock in the nodes' answers to rolecall. Answers of other clusters do not count. */
export class Claims {
  readonly #answers: Answers;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  /**
   * A node's newest claim, for as long as rolecall may take it to last.
   * @param gapMs the longest distance between two requests of one claim; a suspend does not count
   * @returns null if there is none
   */
  longest(node: string, gapMs: number): Claim | null {
    return this.#newest(node, {
      isContinued: (atMs, beforeMs) => atMs - beforeMs - this.#answers.suspendedMs(beforeMs, atMs) <= gapMs,
      isDenial: (served) => served.isGenuine && this.#answers.isSure(served),
    });
  }

  /**
   * The same, for as long as rolecall takes it to last at least.
   * @param gapMs the longest distance between two requests of one claim
   */
  shortest(node: string, gapMs: number): Claim | null {
    return this.#newest(node, {
      isContinued: (atMs, beforeMs) => atMs - beforeMs <= gapMs,
      isDenial: (served) => this.#answers.isPossible(served),
    });
  }

  /**
   * For how long the answers of a node that rolecall has surely read have claimed the lock, in ms of rolecall's clock.
   * A denial does not end this.
   * @param fromMs what was answered before does not count
   * @param gapMs the longest distance between two requests of one claim
   */
  surelyLastedMs(node: string, fromMs: number, gapMs: number): number {
    const instants = this.#answers
      .since(node, "status", fromMs)
      .filter((served) => served.isGenuine && this.#isClaim(served) && this.#answers.isSure(served))
      .map(({ arrivedMs }) => arrivedMs);
    const first = instants.findLastIndex((atMs, at) => atMs - (instants[at - 1] ?? -Infinity) > gapMs);
    const [firstMs = 0, newestMs = 0] = [instants[first], instants.at(-1)];
    return newestMs - firstMs - this.#answers.suspendedMs(firstMs, newestMs);
  }

  #newest(
    node: string,
    of: {
      readonly isContinued: (atMs: number, beforeMs: number) => boolean;
      readonly isDenial: (served: Served) => boolean;
    },
  ): Claim | null {
    const answers = this.#answers.since(node, "status", -Infinity);
    let firstMs: number | null = null;
    let newestMs = 0;
    for (let at = answers.length - 1; at >= 0; at -= 1) {
      const served = answers[at];
      if (served === undefined || (firstMs !== null && served.status === 503 && of.isDenial(served))) break;
      if (!this.#isClaim(served)) continue;
      const { arrivedMs } = served;
      if (firstMs === null) newestMs = arrivedMs;
      else if (!of.isContinued(firstMs, arrivedMs)) break;
      firstMs = arrivedMs;
    }
    return firstMs === null ? null : { firstMs, newestMs };
  }

  #isClaim(served: Served): boolean {
    const manager = documentOf(served)?.["patroni"] as { readonly scope?: unknown } | undefined;
    return served.status === 200 && this.#answers.isPossible(served) && manager?.scope === this.#answers.scope;
  }
}
