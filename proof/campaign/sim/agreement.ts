import { countHeld, type Violation } from "../oracle/scene.ts";
import type { Said } from "../rolecall/asker.ts";
import type { Opinion, Subject } from "./subject.ts";

/** What disagrees with an answer. */
interface Disagreement {
  readonly with: string;
  readonly opinion: Opinion;
}

/** The checks whose verdicts are pushed. */
export const pushedChecks: readonly string[] = ["/primary", "/replica"];

/** The parts that take turns, in this order. The worker is asked each time. */
const parts = ["explain", "ordinary-path", "agent", "head"] as const;

/**
 * All parts of rolecall give the same verdict of one snapshot at one instant: the ordinary path, HEAD, a worker, the
 * explanation, the agent and the pushed state of a server agree with the answer of the fast path.
 */
export class Agreement {
  readonly #subject: () => Subject;
  readonly #armed: Map<string, number>;
  #turn = 0;

  constructor(subject: () => Subject, armed: Map<string, number>) {
    this.#subject = subject;
    this.#armed = armed;
  }

  /** Compares one answer with what the worker gives now, and the part whose turn it is. `head` asks with HEAD. */
  async compare(answer: Said, head: () => Said): Promise<readonly Violation[]> {
    const { node, path } = answer;
    if (node === null) return [];
    const found: Disagreement[] = [];
    const expect = (part: string, opinion: Opinion | null): void => {
      if (opinion === null) return;
      countHeld(this.#armed, part);
      if (!isSame(answer, opinion)) found.push({ with: part, opinion });
    };
    const part = parts[this.#turn % parts.length] ?? "head";
    this.#turn += 1;
    expect(part, await this.#opinionOf(part, answer, head));
    expect("worker", opinionOf(await this.#subject().following("GET", path)));
    return found.map(({ with: rule, opinion }) => ({
      rule,
      node,
      detail: `${path}: answered ${answer.status} ${answer.phrase}, ${rule} gives ${opinion.isFit ? "fit" : opinion.reason}`,
    }));
  }

  async #opinionOf(part: (typeof parts)[number], answer: Said, head: () => Said): Promise<Opinion | null> {
    const { node, check, path } = answer;
    switch (part) {
      case "explain":
        return this.#subject().explained(node ?? "", check);
      case "agent":
        return this.#subject().agent(node ?? "", check);
      case "ordinary-path":
        return opinionOf(await this.#subject().ordinary("GET", path));
      case "head": {
        const { status, headers } = head();
        return { isFit: status === 200, reason: headers.get("x-rolecall-reason") ?? null };
      }
    }
  }

  /** The pushed state of a server is that of the answer. Its timer may be 1 ms behind: the caller looks twice. */
  pushed({ node, check, path, status, phrase }: Said): Violation | null {
    const opinion = node === null ? null : this.#subject().pushed(node, check);
    if (opinion === null) return null;
    countHeld(this.#armed, "push");
    if (opinion.isFit === (status === 200)) return null;
    return { rule: "push", node, detail: `${path}: answered ${phrase}, pushed ${opinion.isFit ? "up" : "down"}` };
  }
}

function isSame({ status, headers }: Said, { isFit, reason }: Opinion): boolean {
  return isFit === (status === 200) && reason === (headers.get("x-rolecall-reason") ?? null);
}

function opinionOf(reply: { readonly status: number; readonly headers: readonly string[] } | null): Opinion | null {
  if (reply === null) return null;
  const at = reply.headers.indexOf("X-Rolecall-Reason");
  return { isFit: reply.status === 200, reason: at < 0 ? null : (reply.headers[at + 1] ?? null) };
}
