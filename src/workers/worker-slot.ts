import type { SendHandle } from "node:child_process";
import type { Logger } from "../events/logger.ts";
import type { FromWorker } from "./messages.ts";
import { WorkerProcess } from "./worker-process.ts";

/** What a place in the crew is wired to. */
export interface WorkerSlotContext {
  readonly log: Logger;
  /** Makes a worker that has just come answer like the others. @throws Error where that cannot be */
  readonly bring: (slot: WorkerSlot) => Promise<void>;
  readonly onMessage: (post: WorkerSlot, message: FromWorker, socket: SendHandle) => void;
  /** Told of the end of each worker that was not told to end. */
  readonly onLost: (worker: WorkerProcess) => void;
}

/** A worker that ends before this was young: its successor comes ever later. In ms. */
const youngMs = 10_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;

/** One place in the crew: when its worker ends, another one comes. */
export class WorkerSlot {
  readonly number: number;
  /** The sockets that its worker has. */
  keys: Set<string> = new Set();
  readonly #context: WorkerSlotContext;
  #worker: WorkerProcess | null = null;
  #isReady = false;
  #youngInRow = 0;
  #retry: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(number: number, context: WorkerSlotContext) {
    this.number = number;
    this.#context = context;
  }

  /** The worker, once it answers, or could. */
  get worker(): WorkerProcess | null {
    return this.#isReady ? this.#worker : null;
  }

  /** The worker, whatever its state. */
  get process(): WorkerProcess | null {
    return this.#worker;
  }

  /** Starts a worker here. Resolves when it is ready; where it ends before, its successors come by themselves. */
  async spawn(): Promise<void> {
    const { log, bring, onMessage } = this.#context;
    const bornMs = performance.now();
    let worker: WorkerProcess;
    try {
      worker = new WorkerProcess({
        onMessage: (message, socket) => onMessage(this, message, socket),
        onExit: (how) => this.#replace(worker, how, performance.now() - bornMs),
      });
    } catch (error) {
      // The system gives no process now (out of memory): what is lacking may come back.
      log.error({ worker: this.number, err: error, pause_ms: longestPauseMs }, "worker could not be started");
      this.#retry = setTimeout(() => void this.spawn(), longestPauseMs);
      return;
    }
    this.#worker = worker;
    this.keys = new Set();
    try {
      await worker.ready;
      this.#isReady = await this.#brought(worker, bring);
      log.info({ worker: this.number, pid: worker.pid }, "worker started");
    } catch (error) {
      if (!this.#isStopped) log.error({ worker: this.number, pid: worker.pid, err: error }, "worker did not start");
      worker.kill();
    }
  }

  /** Takes its worker out of the answering ones and brings it in anew: it missed something. */
  async resync(): Promise<void> {
    const worker = this.#worker;
    this.#isReady = false;
    if (worker === null) return;
    try {
      this.#isReady = await this.#brought(worker, this.#context.bring);
    } catch {
      worker.kill();
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#worker?.end();
  }

  async #brought(worker: WorkerProcess, bring: WorkerSlotContext["bring"]): Promise<boolean> {
    await bring(this);
    return this.#worker === worker;
  }

  #replace(worker: WorkerProcess, how: string, livedMs: number): void {
    this.#worker = null;
    this.#isReady = false;
    if (this.#isStopped) return;
    this.#context.onLost(worker);
    this.#youngInRow = livedMs < youngMs ? this.#youngInRow + 1 : 0;
    const pauseMs =
      this.#youngInRow < 2 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#youngInRow - 2, 10));
    this.#context.log.error(
      { worker: this.number, pid: worker.pid, how, pause_ms: pauseMs },
      "worker ended: another one takes its place",
    );
    this.#retry = setTimeout(() => void this.spawn(), pauseMs);
  }
}
