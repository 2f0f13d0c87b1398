import type { SendHandle } from "node:child_process";
import type { Logger } from "../log/logger.ts";
import type { FromWorker } from "./messages.ts";
import { WorkerProcess } from "./worker-process.ts";

/** What a slot depends on. */
export interface WorkerSlotContext {
  readonly log: Logger;
  /** Makes a new worker answer like the others. @throws Error if that is impossible */
  readonly bringUp: (slot: WorkerSlot) => Promise<void>;
  readonly onMessage: (slot: WorkerSlot, message: FromWorker, socket: SendHandle) => void;
  /** Called when a worker exits unexpectedly. */
  readonly onLost: (worker: WorkerProcess) => void;
  /** Called when its worker begins or ceases to answer like the others. */
  readonly onReadiness: () => void;
}

/** A worker that lives shorter than this, in ms, delays its successor. */
const shortLifeMs = 10_000;
const pauseMinMs = 100;
const pauseMaxMs = 5_000;

/** One place in the worker pool: when its worker exits, a successor starts. */
export class WorkerSlot {
  readonly number: number;
  /** The keys of the sockets that its worker has. */
  keys: Set<string> = new Set();
  readonly #context: WorkerSlotContext;
  #worker: WorkerProcess | null = null;
  #isReady = false;
  #shortLivesInRow = 0;
  #retry: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(number: number, context: WorkerSlotContext) {
    this.number = number;
    this.#context = context;
  }

  /** The worker, if it answers like the others. */
  get worker(): WorkerProcess | null {
    return this.#isReady ? this.#worker : null;
  }

  /** The worker in whatever state it is. */
  get process(): WorkerProcess | null {
    return this.#worker;
  }

  /** Starts a worker. Resolves when it is ready. If it exits before that, a successor starts by itself. */
  async spawn(): Promise<void> {
    if (this.#isStopped) return;
    const { log, bringUp, onMessage } = this.#context;
    const startedMs = performance.now();
    let worker: WorkerProcess;
    try {
      worker = WorkerProcess.spawn({
        onMessage: (message, socket) => onMessage(this, message, socket),
        onExit: (how) => this.#replace(worker, how, performance.now() - startedMs),
      });
    } catch (error) {
      // The system cannot start a process now (out of memory). It may later.
      log.error({ worker: this.number, err: error, pause_ms: pauseMaxMs }, "worker could not be started");
      this.#retry = setTimeout(() => void this.spawn(), pauseMaxMs);
      return;
    }
    this.#worker = worker;
    this.keys = new Set();
    try {
      await worker.ready();
      this.#setReady(await this.#bringUp(worker, bringUp));
      log.info({ worker: this.number, pid: worker.pid }, "worker started");
    } catch (error) {
      if (!this.#isStopped) log.error({ worker: this.number, pid: worker.pid, err: error }, "worker did not start");
      worker.kill();
    }
  }

  /** Brings its worker up again, because it missed a change. It does not count as answering meanwhile. */
  async resync(): Promise<void> {
    const worker = this.#worker;
    this.#setReady(false);
    if (worker === null) return;
    try {
      this.#setReady(await this.#bringUp(worker, this.#context.bringUp));
    } catch {
      worker.kill();
    }
  }

  /** Ends a worker that does not reply. Resolves when it is gone, and with it the sockets that it may have opened. */
  async discard(worker: WorkerProcess, why: Error): Promise<void> {
    if (this.#worker !== worker) return;
    this.#setReady(false);
    this.#context.log.error({ worker: this.number, pid: worker.pid, err: why }, "worker does not reply and is killed");
    worker.kill();
    await worker.exited();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#worker?.close();
  }

  /** Brings its worker up. @returns whether the slot still has that worker */
  async #bringUp(worker: WorkerProcess, bringUp: WorkerSlotContext["bringUp"]): Promise<boolean> {
    await bringUp(this);
    return this.#worker === worker;
  }

  #setReady(isReady: boolean): void {
    this.#isReady = isReady;
    this.#context.onReadiness();
  }

  #replace(worker: WorkerProcess, how: string, livedMs: number): void {
    this.#worker = null;
    this.#setReady(false);
    if (this.#isStopped) return;
    this.#context.onLost(worker);
    this.#shortLivesInRow = livedMs < shortLifeMs ? this.#shortLivesInRow + 1 : 0;
    const pauseMs = pauseAfter(this.#shortLivesInRow);
    this.#context.log.error(
      { worker: this.number, pid: worker.pid, how, pause_ms: pauseMs },
      "worker ended; starting another one",
    );
    this.#retry = setTimeout(() => void this.spawn(), pauseMs);
  }
}

/**
 * The pause before the successor starts, in ms: none after one short life, 100 ms after two in a row, then doubled for
 * each further one, up to the maximum.
 */
function pauseAfter(shortLives: number): number {
  return shortLives < 2 ? 0 : Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(shortLives - 2, 10));
}
