import { fork, type ChildProcess, type SendHandle, type StdioOptions } from "node:child_process";
import type { ListenerConfig } from "../config/model/config.ts";
import { noFastPathCounts } from "../http/message/fast-path-counts.ts";
import { workerProgram } from "../program/worker-program.ts";
import type { PreparedInWorker, FullState, FromWorker, ToWorker, WorkerReport } from "./messages.ts";

/**
 * Keeps a worker's heap as small as the main process's (cli/framework/v8-tuning.ts) from its start, and collects
 * garbage on the worker's own thread: helper threads would compete with it for its processor, or with other workers for
 * theirs.
 */
const heapFlags = ["--max-semi-space-size=1", "--heap-growing-percent=100", "--single-threaded-gc"];
/** The time limit of a worker for a command, in ms. */
const replyTimeoutMs = 15_000;
/** A worker that still runs so long after the command to close is killed, in ms. */
const closeTimeoutMs = 3_000;

/** What a worker process reports by itself. */
export interface WorkerEvents {
  /** Called with every message that is not the reply to a request. */
  readonly onMessage: (message: FromWorker, socket: SendHandle) => void;
  /** The process is gone. */
  readonly onExit: (how: string) => void;
}

/** One worker, as the main process sees it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  readonly #waiting = new Map<FromWorker["kind"], (message: FromWorker | null) => void>();
  /** The last report of what it has done. */
  report: WorkerReport = {
    answers: [],
    backends: [],
    limits: [],
    fastPath: noFastPathCounts,
    cpuS: 0,
    residentBytes: 0,
  };
  /** How many heartbeats in a row it has missed. */
  missedHeartbeats = 0;

  private constructor(child: ChildProcess, events: WorkerEvents) {
    this.#child = child;
    this.#events = events;
    child.on("message", (message: FromWorker, socket: SendHandle) => this.#receive(message, socket));
    // Without a pid the process never started, and there is no "exit". Otherwise a message could not be sent, and
    // "exit" follows.
    child.on("error", (error) => {
      if (child.pid === undefined) this.#onExit(error.message);
    });
    child.once("exit", (code, signal) => this.#onExit(signal ?? `exit code ${code}`));
  }

  /** Starts a worker process. @throws Error if the system cannot start one */
  static spawn(events: WorkerEvents): WorkerProcess {
    const stdio: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];
    const { module, execArgv } = workerProgram(heapFlags);
    return new WorkerProcess(fork(module, [], { stdio, serialization: "advanced", execArgv: [...execArgv] }), events);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the new worker receives messages. @throws Error if it exits, or does not start in time */
  async ready(): Promise<void> {
    const message = await this.#receiveNext("ready", replyTimeoutMs);
    if (message === null) throw new Error("the worker exited, or did not start in time");
  }

  /** Sends a message. To a worker that is gone it is lost. */
  send(message: ToWorker, socket?: SendHandle): void {
    if (this.#child.connected) this.#child.send(message, socket);
  }

  /** Lets the worker open listeners. @throws Error if it exits, or does not reply in time */
  async prepare(listen: readonly ListenerConfig[], fullState: FullState | null): Promise<PreparedInWorker> {
    const reply = this.#receiveNext("prepared", replyTimeoutMs);
    this.send({ kind: "prepare", listen, fullState });
    const message = await reply;
    if (message?.kind !== "prepared") throw new Error("the worker exited, or did not open its listeners in time");
    return message.prepared;
  }

  /** Gets a fresh report. Resolves when it is there, or after `withinMs`. */
  async refreshReport(withinMs: number): Promise<void> {
    const reply = this.#receiveNext("report", withinMs);
    this.send({ kind: "report" });
    await reply;
  }

  /** Closes the worker, and kills it if it does not exit in time. Resolves when it is gone. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => void this.#child.once("exit", () => resolve()));
    this.send({ kind: "close" });
    const timer = setTimeout(() => this.kill(), closeTimeoutMs);
    await exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #onExit(how: string): void {
    for (const settle of this.#waiting.values()) settle(null);
    this.#events.onExit(how);
  }

  #receive(message: FromWorker, socket: SendHandle): void {
    this.missedHeartbeats = 0;
    if (message.kind === "report") this.report = message.report;
    const settle = this.#waiting.get(message.kind);
    if (settle === undefined) this.#events.onMessage(message, socket);
    else settle(message);
  }

  /** Resolves with the next message of a kind; with `null` if the worker exits or the time is over. */
  #receiveNext(kind: FromWorker["kind"], withinMs: number): Promise<FromWorker | null> {
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
