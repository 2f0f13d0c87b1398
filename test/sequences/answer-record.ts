import type { Look } from "./watcher.ts";

/** An answer from an instant on, in seconds since the start: `fit`, or the reason. */
export interface Change {
  readonly at: number;
  readonly answer: string;
}

/** The key of `GET /primary` of a node, requested once a round. */
const isPlainPrimary = /^\S+ \/primary$/;

/** The answers of all rounds of checks of one cluster, as changes. */
export class AnswerRecord {
  readonly changes = new Map<string, Change[]>();
  /** Instants at which more than one `GET /primary` of a round was fit, in two consecutive rounds. */
  readonly doubles: number[] = [];
  readonly #looks: readonly Look[];
  #hadTwo = false;

  constructor(looks: readonly Look[]) {
    this.#looks = looks;
  }

  /**
   * Adds a round.
   * @param at seconds since the start
   * @param answers one of each look, in their order
   */
  add(at: number, answers: readonly string[]): void {
    let primaries = 0;
    for (const [index, { key }] of this.#looks.entries()) {
      const answer = answers[index] ?? "";
      if (answer === "fit" && isPlainPrimary.test(key)) primaries += 1;
      const known = this.changes.get(key) ?? [];
      this.changes.set(key, known);
      if (known.at(-1)?.answer !== answer) known.push({ at, answer });
    }
    if (primaries > 1 && this.#hadTwo) this.doubles.push(at);
    this.#hadTwo = primaries > 1;
  }
}

/** The answer in the head of a response. */
export function answerInHead(head: string): string {
  return answerOf(Number(head.slice(9, 12)), /\r\nx-rolecall-reason: ([^\r]*)/i.exec(head)?.[1]);
}

/** The answer of a status and the `X-Rolecall-Reason` header, as sequences write it. */
export function answerOf(status: number, reason: string | undefined): string {
  return status === 200 ? "fit" : (reason ?? (status === 400 ? "bad_request" : String(status)));
}
