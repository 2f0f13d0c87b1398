import type { Logger } from "../log/logger.ts";

/** The most different problems of one balancer that are remembered: more than a configuration has servers. */
const problemsMax = 20_000;

/** Logs the problems of one balancer: each once, until it is over. */
export class BalancerProblems {
  readonly #log: Pick<Logger, "info" | "warn">;
  readonly #balancer: string;
  readonly #open = new Map<string, string>();

  constructor(log: Pick<Logger, "info" | "warn">, balancer: string) {
    this.#log = log;
    this.#balancer = balancer;
  }

  /** Logs a problem, unless it is known. @param subject what has the problem, such as a server */
  report(subject: string, problem: string): void {
    if (this.#open.get(subject) === problem || this.#open.size >= problemsMax) return;
    this.#open.set(subject, problem);
    this.#log.warn({ balancer: this.#balancer, subject, problem }, "balancer not updated");
  }

  /** The problems that last. */
  list(): readonly { readonly subject: string; readonly problem: string }[] {
    return [...this.#open].map(([subject, problem]) => ({ subject, problem }));
  }

  /** Logs that a problem is over, if there was one. */
  resolve(subject: string): void {
    if (this.#open.delete(subject)) this.#log.info({ balancer: this.#balancer, subject }, "balancer problem resolved");
  }
}
