import { fork, type ChildProcess, type SendHandle, type StdioOptions } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ListenerConfig } from "../config/model/config.ts";
import { noFastPathCounts } from "../http/message/fast-path-counts.ts";
import type { PreparedInWorker, FullState, FromWorker, ToWorker, WorkerReport } from "./messages.ts";

/**
 * Keeps a worker's heap as small as the first process's (cli/memory.ts), from its very start, and collects it on the worker's own thread: its
 * helpers would take turns with it on its core, or take another worker's.
 */
const heapFlags = ["--max-semi-space-size=1", "--heap-growing-percent=100", "--single-threaded-gc"];
/** How long a worker may take to do what it was told, in ms. */
const patienceMs = 15_000;
/** A worker that was told to end and is still there after this is killed, in ms. */
const endMs = 3_000;

/** What a worker tells of by itself. */
export interface WorkerEvents {
  /** Anything but the answers that are waited for. */
  readonly onMessage: (message: FromWorker, socket: SendHandle) => void;
  /** It is gone, for good. */
  readonly onExit: (how: string) => void;
}

/** One worker, as the first process sees it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  readonly #waiting = new Map<FromWorker["kind"], (message: FromWorker | null) => void>();
  /** Resolves when it listens to us. @throws Error where it does not come to that */
  readonly ready: Promise<void>;
  /** What it last told of itself. */
  report: WorkerReport = { answers: [], fastPath: noFastPathCounts, cpuS: 0, residentBytes: 0 };
  /** Turns of the watch in which nothing was heard of it. */
  silentFor = 0;

  constructor(events: WorkerEvents) {
    const stdio: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];
    const file = fileURLToPath(new URL("../app/worker.js", import.meta.url));
    this.#events = events;
    this.#child = fork(file, [], { stdio, serialization: "advanced", execArgv: heapFlags });
    this.ready = this.#begun();
    this.#child.on("message", (message: FromWorker, socket: SendHandle) => this.#hear(message, socket));
    // One that never started has no other end than this. Else it is a message that could not be sent, and "exit" tells the end.
    this.#child.on("error", (error) => {
      if (this.#child.pid === undefined) this.#ended(error.message);
    });
    this.#child.once("exit", (code, signal) => this.#ended(signal ?? `exit code ${code}`));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Tells it something; what a worker that is gone was told is lost. */
  tell(message: ToWorker, socket?: SendHandle): void {
    if (this.#child.connected) this.#child.send(message, socket);
  }

  /** Has it open doors. @throws Error where it is gone, or does not answer in time */
  async prepare(listen: readonly ListenerConfig[], fullState: FullState | null): Promise<PreparedInWorker> {
    const answer = this.#wait("prepared", patienceMs);
    this.tell({ kind: "prepare", listen, fullState });
    const told = await answer;
    if (told?.kind !== "prepared") throw new Error("a worker that was to listen ended, or did not answer");
    return told.prepared;
  }

  /** Has it say anew what it has done; resolves when it has, or after `withinMs`. */
  async refreshReport(withinMs: number): Promise<void> {
    const answer = this.#wait("report", withinMs);
    this.tell({ kind: "report" });
    await answer;
  }

  /** Has it end; kills it where it does not. Resolves when it is gone. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => void this.#child.once("exit", () => resolve()));
    this.tell({ kind: "close" });
    const timer = setTimeout(() => this.kill(), endMs);
    await gone;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async #begun(): Promise<void> {
    const message = await this.#wait("ready", patienceMs);
    if (message === null) throw new Error("it ended, or did not begin in time");
  }

  #ended(how: string): void {
    for (const settle of this.#waiting.values()) settle(null);
    this.#events.onExit(how);
  }

  #hear(message: FromWorker, socket: SendHandle): void {
    this.silentFor = 0;
    if (message.kind === "report") this.report = message.report;
    const settle = this.#waiting.get(message.kind);
    if (settle === undefined) this.#events.onMessage(message, socket);
    else settle(message);
  }

  /** The next message of a kind; `null` where the worker ends before, or the time is over. */
  #wait(kind: FromWorker["kind"], withinMs: number): Promise<FromWorker | null> {
    return new Promise((resolve) => {
      const settle = (message: FromWorker | null): void => {
        clearTimeout(timer);
        if (this.#waiting.get(kind) === settle) this.#waiting.delete(kind);
        resolve(message);
      };
      const timer = setTimeout(() => settle(null), withinMs);
      this.#waiting.set(kind, settle);
    });
  }
}
