/** Clients of a balancer: some open a new connection for each question, some ask on in one session. */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { Session } from "./session.ts";

/** One question and what became of it. Instants are of the monotonic clock, in ms. */
export interface Attempt {
  readonly startedMs: number;
  readonly endedMs: number;
  /** The port of the server that answered; `null` if the question failed. */
  readonly server: number | null;
  /** What psql says about a failure; empty otherwise. */
  readonly error: string;
}

/** Asks through one port until it is stopped, over a new connection of psql each time. */
export class Traffic {
  readonly attempts: Attempt[] = [];
  readonly #port: number;
  readonly #statement: string;
  readonly #running: Promise<void>;
  #isStopped = false;

  /** @param statement returns the port of its server as the first column */
  constructor(port: number, statement: string) {
    this.#port = port;
    this.#statement = statement;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  get failures(): readonly Attempt[] {
    return this.attempts.filter(({ server }) => server === null);
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.attempts.push(await this.#ask());
      await sleep(50);
    }
  }

  #ask(): Promise<Attempt> {
    const address = ["-h", "127.0.0.1", "-p", String(this.#port), "-U", "postgres", "-d", "postgres"];
    const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", PGCONNECT_TIMEOUT: "2" };
    const startedMs = performance.now();
    return new Promise((resolve) => {
      const options = { timeout: 3_000, env };
      execFile("psql", ["-X", "-A", "-t", "-q", ...address, "-c", this.#statement], options, (failed, out, error) => {
        const server = failed === null ? Number.parseInt(out, 10) : null;
        const text = error.trim() === "" ? "no answer within 3 s" : error.trim();
        resolve({ startedMs, endedMs: performance.now(), server, error: failed === null ? "" : text });
      });
    });
  }
}

/** Asks in one session through one port until it is stopped. A session that is cut is opened again. */
export class Standing {
  readonly #port: number;
  readonly #running: Promise<void>;
  #isStopped = false;
  /** Questions that were answered. */
  answered = 0;
  /** Sessions that were cut, or not opened. */
  cut = 0;

  constructor(port: number) {
    this.#port = port;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const session = new Session(this.#port);
      while (!this.#isStopped && (await session.ask("select 1")) === "1") {
        this.answered += 1;
        await sleep(50);
      }
      if (!this.#isStopped) this.cut += 1;
      await session.close();
    }
  }
}
