/** Asks rolecall about one node again and again, and keeps every no. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Rolecall } from "../lab/rolecall.ts";

/** A no, or a missing response, with the time of its request in ms since the first one. */
export interface Refusal {
  readonly check: string;
  readonly atMs: number;
  /** The reason, or `silent`. */
  readonly reason: string;
}

export interface RefusalOptions {
  readonly rolecall: Rolecall;
  readonly node: string;
  readonly checks: readonly string[];
}

/** The interval of each check, in ms. */
const everyMs = 25;

export class Refusals {
  readonly #options: RefusalOptions;
  readonly #running: Promise<void>;
  readonly #beganMs = performance.now();
  readonly found: Refusal[] = [];
  requestCount = 0;
  #isStopped = false;

  constructor(options: RefusalOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const requests: Promise<void>[] = [];
    while (!this.#isStopped) {
      for (const check of this.#options.checks) requests.push(this.#ask(check));
      await sleep(everyMs);
    }
    await Promise.all(requests);
  }

  async #ask(check: string): Promise<void> {
    const { rolecall, node } = this.#options;
    const { status, reason, sentAtMs } = await rolecall.ask(node, check);
    this.requestCount += 1;
    if (status !== 200)
      this.found.push({ check, atMs: Math.round(sentAtMs - this.#beganMs), reason: reason || "silent" });
  }
}

/** One line: the number of requests, and each no by check and reason with its first and last instant. */
export function account({ requestCount, found }: Refusals): string {
  const groups = new Map<string, Refusal[]>();
  for (const refusal of found) {
    const key = `${refusal.check} ${refusal.reason}`;
    groups.set(key, [...(groups.get(key) ?? []), refusal]);
  }
  const told = [...groups].map(
    ([key, group]) => `${key} x ${group.length} from ${group[0]?.atMs} to ${group.at(-1)?.atMs} ms`,
  );
  return `${requestCount} asked, ${told.length === 0 ? "none refused" : told.join(", ")}`;
}
