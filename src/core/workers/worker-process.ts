import { fork, type ChildProcess, type SendHandle, type StdioOptions } from "node:child_process";
import { setPriority } from "node:os";
import type { ListenerConfig } from "../config/model/config.ts";
import { noFastPathCounts } from "../http/message/fast-path-counts.ts";
import { leavingMaxMs } from "../http/listener/listener-set.ts";
import { childProgram } from "../program/child-program.ts";
import { usableProcessors } from "../program/processors.ts";
import { queuedMsOf, runMsMax, startDeadline, type Waited, waitMsMax } from "./patient-deadline.ts";
import type { PreparedInWorker, FullState, FromWorker, ToWorker, WorkerReport } from "./messages.ts";

/**
 * Keeps a worker's heap as small as the main process's (command/framework/v8-tuning.ts) from its start, and collects
 * garbage on the worker's own thread: helper threads would compete with it for its processor, or with other workers for
 * theirs.
 */
const heapFlags = ["--max-semi-space-size=1", "--heap-growing-percent=100", "--single-threaded-gc"];
/** How long a worker may take to finish with its connections, in ms. After that it is closed. */
const retireTimeoutMs = leavingMaxMs + 10_000;
/** How long a worker may run after it received the message `close`, in ms. After that it is killed. */
const closeTimeoutMs = 3_000;

/**
 * The niceness of workers where the main process has to share its processor with them: of what both want, it gets three
 * quarters. What gives way is the rate of answers, not the probing. Raising it needs no privilege (setpriority(2)).
 */
const yieldingNiceness = 5;

/** What a worker process reports by itself. */
export interface WorkerEvents {
  /** Called with every message that is not the reply to a request. */
  readonly onMessage: (message: FromWorker, socket: SendHandle) => void;
  /** The process is gone. */
  readonly onExit: (how: string) => void;
}

/** A worker ended, or did not reply in time. */
export class WorkerError extends Error {
  /** @param cause how long the main process waited, or how the worker ended */
  constructor(what: string, cause: Waited | string) {
    super(`Cannot ${what}: ${typeof cause === "string" ? `it must keep running, got ${cause}` : lateness(cause)}`);
    this.name = "WorkerError";
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

function lateness({ allMs, starvedMs }: Waited): string {
  return (
    `it must reply within ${seconds(runMsMax)}, or ${seconds(waitMsMax)} if it has to wait for a processor, ` +
    `got no reply in ${seconds(allMs)}, of which it waited ${seconds(starvedMs)} for a processor`
  );
}

/** One worker, as the main process sees it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  readonly #waiting = new Map<FromWorker["kind"], (message: FromWorker | null) => void>();
  /** How it ended; `null` while it runs. */
  #exitCause: string | null = null;
  #refreshing: Promise<void> | null = null;
  /** The last report of what it has done. */
  report: WorkerReport = {
    answers: [],
    backends: [],
    limits: [],
    asked: [],
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
    // Without a pid the process never started, and there will be no "exit". With a pid, the error is that a message
    // could not be sent, because the worker ends: then "exit" follows.
    child.on("error", (error) => {
      if (child.pid === undefined) this.#onExit(error.message);
    });
    child.once("exit", (code, signal) => this.#onExit(signal ?? `exit code ${code}`));
  }

  /** Starts a worker process. @throws Error if the system cannot start one */
  static spawn(events: WorkerEvents): WorkerProcess {
    const stdio: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];
    const { module, execArgv } = childProgram("worker", heapFlags);
    const child = fork(module, [], { stdio, serialization: "advanced", execArgv: [...execArgv] });
    if (usableProcessors() < 2) yieldProcessor(child);
    return new WorkerProcess(child, events);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the new worker receives messages. @throws WorkerError if it ends, or does not start in time */
  async ready(): Promise<void> {
    await this.#awaitReply("ready", "start a worker");
  }

  /** Sends a message. To a worker that is gone it is lost. */
  send(message: ToWorker, socket?: SendHandle): void {
    if (this.#child.connected) this.#child.send(message, socket);
  }

  /** Lets the worker open listeners. @throws WorkerError if it ends, or does not reply in time */
  async prepare(listen: readonly ListenerConfig[], fullState: FullState | null): Promise<PreparedInWorker> {
    const reply = this.#awaitReply("prepared", "open listeners in a worker");
    this.send({ kind: "prepare", listen, fullState });
    const message = await reply;
    if (message.kind !== "prepared")
      throw new TypeError(`the kind of the reply must be "prepared", got "${message.kind}"`);
    return message.prepared;
  }

  /**
   * Gets a fresh report. Resolves when it is there, or after `withinMs`. Calls that come meanwhile share it, because
   * only one request of a kind can be in flight.
   */
  refreshReport(withinMs: number): Promise<void> {
    this.#refreshing ??= this.#refresh(withinMs).finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #refresh(withinMs: number): Promise<void> {
    const reply = this.#receiveNext("report");
    const timer = setTimeout(reply.giveUp, withinMs);
    this.send({ kind: "report" });
    await reply.message;
    clearTimeout(timer);
  }

  /** Lets the worker finish with its connections, and closes it if that takes too long. Resolves when it is gone. */
  async retire(): Promise<void> {
    if (this.#exitCause !== null) return;
    this.send({ kind: "retire" });
    const timer = setTimeout(() => void this.close(), retireTimeoutMs).unref();
    await this.exited();
    clearTimeout(timer);
  }

  /** Closes the worker, and kills it if it does not exit in time. Resolves when it is gone. */
  async close(): Promise<void> {
    if (this.#exitCause !== null) return;
    this.send({ kind: "close" });
    const timer = setTimeout(() => this.kill(), closeTimeoutMs);
    await this.exited();
    clearTimeout(timer);
  }

  /** Resolves when the worker is gone. */
  async exited(): Promise<void> {
    if (this.#exitCause !== null) return;
    await new Promise<void>((resolve) => void this.#child.once("exit", () => resolve()));
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Lets a stopped process run on. */
  continue(): void {
    this.#child.kill("SIGCONT");
  }

  #onExit(how: string): void {
    this.#exitCause = how;
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

  /**
   * Waits for the next message of a kind, as long as a slow machine needs.
   * @param what the goal, for the error
   * @throws WorkerError if the worker ends, or does not reply in time
   */
  async #awaitReply(kind: FromWorker["kind"], what: string): Promise<FromWorker> {
    const reply = this.#receiveNext(kind);
    let waited: Waited | null = null;
    const stop = startDeadline(
      () => queuedMsOf(this.pid),
      (time) => {
        waited = time;
        reply.giveUp();
      },
    );
    const message = await reply.message;
    stop();
    if (message !== null) return message;
    // Without a message, the worker was too slow or has exited: one of the first two values is set. The third only
    // satisfies the compiler.
    throw new WorkerError(what, waited ?? this.#exitCause ?? "an exit");
  }

  /** The next message of a kind; `null` if the worker ends, or the caller gives up. */
  #receiveNext(kind: FromWorker["kind"]): {
    readonly message: Promise<FromWorker | null>;
    readonly giveUp: () => void;
  } {
    const promised: { resolve?: (message: FromWorker | null) => void } = {};
    const message = new Promise<FromWorker | null>((resolve) => {
      promised.resolve = resolve;
    });
    const settle = (received: FromWorker | null): void => {
      // A later request for the same kind may have taken this one's place in the map.
      if (this.#waiting.get(kind) === settle) this.#waiting.delete(kind);
      promised.resolve?.(received);
    };
    this.#waiting.set(kind, settle);
    if (this.#exitCause !== null) settle(null);
    return { message, giveUp: () => settle(null) };
  }
}

/** Lets a worker yield to the main process. One that cannot, or has ended, is as important as that. */
function yieldProcessor({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, yieldingNiceness);
  } catch {
    // The system may forbid it (seccomp), and then both share the processor alike.
  }
}
