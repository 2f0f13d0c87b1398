/**
 * The processes of the test inside its namespaces: clients, and the observer, through which the runner sends requests.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Errand } from "../client/observer-main.ts";
import type { Place } from "../client/session.ts";
import type { Call } from "../client/status.ts";
import { insideNamespace } from "../../../test/real/lab/child.ts";
import { reapAtExit, signal } from "../../../test/real/lab/reaper.ts";
import { type MachineName, namespaceOf } from "./addresses.ts";

/** A program of the test in a namespace, which ends when its standard input does. */
export class Helper {
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(machine: MachineName, program: "clients-main" | "observer-main", args: readonly string[]) {
    const script = fileURLToPath(new URL(`../client/${program}.js`, import.meta.url));
    const [command, ...more] = insideNamespace(namespaceOf(machine), [process.execPath, script, ...args]);
    this.#process = spawn(command, more, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process.stdin?.on("error", () => {});
    this.#ended = new Promise((resolve) => this.#process.once("exit", () => resolve()));
    reapAtExit(() => (this.#process.pid === undefined || this.#process.exitCode !== null ? [] : [this.#process.pid]));
  }

  get process(): ChildProcess {
    return this.#process;
  }

  /** Ends it, after what it has begun; kills it after 10 s. */
  async stop(): Promise<void> {
    this.#process.stdin?.end();
    const late = setTimeout(() => signal(this.#process.pid ?? 0, "SIGKILL"), 10_000);
    await this.#ended;
    clearTimeout(late);
  }
}

/** The answer to an errand. */
interface Answer {
  readonly id: number;
  readonly status?: number;
  readonly text?: string;
  readonly rows?: readonly object[] | null;
}

export class Observer {
  readonly #helper: Helper;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #next = 1;

  /** @param file gets its events */
  constructor(file: string) {
    this.#helper = new Helper("ob", "observer-main", [file]);
    const { stdout } = this.#helper.process;
    if (stdout === null) throw new Error("Cannot start the observer: it has no output");
    createInterface(stdout).on("line", (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    this.#helper.process.once("exit", () => {
      for (const [id, resolve] of this.#waiting) resolve({ id });
    });
  }

  /** Sends an HTTP request. Status 0: no answer. */
  async http(call: Call): Promise<{ readonly status: number; readonly text: string }> {
    const { status = 0, text = "" } = await this.#send({ http: call });
    return { status, text };
  }

  /** The rows of a statement on a new connection; `null` if it failed. */
  async sql<T extends object>(place: Place, statement: string): Promise<readonly T[] | null> {
    const { rows } = await this.#send({ sql: { place, statement } });
    return (rows ?? null) as readonly T[] | null;
  }

  stop(): Promise<void> {
    return this.#helper.stop();
  }

  #send(errand: Omit<Errand, "id">): Promise<Answer> {
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#helper.process.stdin?.write(`${JSON.stringify({ id, ...errand })}\n`);
    });
  }
}
