import type { SendHandle } from "node:child_process";
import type { Logger } from "../log/logger.ts";
import type { FromWorker } from "./messages.ts";
import { nextSlot, type SlotAction, type SlotEvent, type SlotState } from "./slot-state.ts";
import { WorkerProcess } from "./worker-process.ts";

/** What a slot depends on. */
export interface WorkerSlotContext {
  readonly log: Logger;
  /** Makes a new worker answer like the others. @throws Error if that is impossible */
  readonly bringUp: (slot: WorkerSlot) => Promise<void>;
  readonly onMessage: (slot: WorkerSlot, message: FromWorker, socket: SendHandle) => void;
  /** Called when a worker exits unexpectedly. */
  readonly onLost: (worker: WorkerProcess) => void;
  /** Called when a worker has ended because fewer are wanted. */
  readonly onLeft: (worker: WorkerProcess) => void;
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
  #state: SlotState<WorkerProcess> = { phase: "empty" };
  #retry: NodeJS.Timeout | null = null;
  #shortLivesInRow = 0;

  constructor(number: number, context: WorkerSlotContext) {
    this.number = number;
    this.#context = context;
  }

  /** The worker, if it answers like the others. */
  get worker(): WorkerProcess | null {
    return this.#state.phase === "ready" ? this.#state.worker : null;
  }

  /** The worker, if it gets every change: it answers like the others, or finishes with its connections. */
  get follower(): WorkerProcess | null {
    return this.#state.phase === "ready" || this.#state.phase === "retiring" ? this.#state.worker : null;
  }

  /** The worker in whatever state it is. */
  get process(): WorkerProcess | null {
    return this.#state.phase === "empty" ? null : this.#state.worker;
  }

  /** Starts a worker. Resolves when it is ready. If it exits before that, a successor starts by itself. */
  async spawn(): Promise<void> {
    if (this.#state.phase !== "empty") return;
    const { log, onMessage } = this.#context;
    const startedMs = performance.now();
    let worker: WorkerProcess;
    try {
      worker = WorkerProcess.spawn({
        onMessage: (message, socket) => onMessage(this, message, socket),
        onExit: (how) => this.#onExit(worker, how, performance.now() - startedMs),
      });
    } catch (error) {
      // The system cannot start a process now (out of memory). It may later.
      log.error({ worker: this.number, err: error, pause_ms: pauseMaxMs }, "worker could not be started");
      this.#spawnLater(pauseMaxMs);
      return;
    }
    this.#advance({ kind: "spawned", worker });
    this.keys = new Set();
    try {
      await worker.ready();
      await this.#bringUp(worker);
      log.info({ worker: this.number, pid: worker.pid }, "worker started");
    } catch (error) {
      if (this.#isStarting) log.error({ worker: this.number, pid: worker.pid, err: error }, "worker did not start");
      worker.kill();
    }
  }

  /** Brings its worker up again, because it missed a change. It does not count as answering meanwhile. */
  async resync(): Promise<void> {
    if (this.#state.phase !== "ready") return;
    const { worker } = this.#state;
    this.#advance({ kind: "behind" });
    try {
      await this.#bringUp(worker);
    } catch {
      worker.kill();
    }
  }

  /** Ends a worker that does not reply. Resolves when it is gone, and with it the sockets that it may have opened. */
  async discard(worker: WorkerProcess, why: Error): Promise<void> {
    if (this.process !== worker) return;
    this.#advance({ kind: "behind" });
    this.#context.log.error({ worker: this.number, pid: worker.pid, err: why }, "worker does not reply and is killed");
    worker.kill();
    await worker.exited();
  }

  /**
   * Ends the slot; no successor starts. Its worker takes no new connection and finishes with the open ones, as soon as it
   * answers like the others. Resolves when it is gone.
   */
  async retire(): Promise<void> {
    const worker = this.process;
    if (this.#advance({ kind: "retire" }) === "close") await this.#close();
    else await worker?.exited();
  }

  /** Ends the slot and its worker. No successor starts. */
  async stop(): Promise<void> {
    this.#advance({ kind: "stop" });
    await this.#close();
  }

  async #close(): Promise<void> {
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.process?.close();
  }

  /** Brings its worker up. It answers like the others then, unless it is no longer the slot's. */
  async #bringUp(worker: WorkerProcess): Promise<void> {
    await this.#context.bringUp(this);
    if (this.process === worker) this.#advance({ kind: "up" });
  }

  get #isStarting(): boolean {
    return this.#state.phase === "starting";
  }

  #advance(event: SlotEvent<WorkerProcess>): SlotAction {
    const { state, action } = nextSlot(this.#state, event);
    const isChange = state.phase !== this.#state.phase;
    this.#state = state;
    if (isChange) this.#context.onReadiness();
    if (action === "retire") void this.process?.retire();
    return action;
  }

  #spawnLater(pauseMs: number): void {
    this.#retry = setTimeout(() => void this.spawn(), pauseMs);
  }

  #onExit(worker: WorkerProcess, how: string, livedMs: number): void {
    const { log, onLost, onLeft } = this.#context;
    const action = this.#advance({ kind: "exited" });
    if (action === "left") {
      onLeft(worker);
      log.info({ worker: this.number, pid: worker.pid }, "worker ended: fewer are wanted");
    }
    if (action !== "respawn") return;
    onLost(worker);
    this.#shortLivesInRow = livedMs < shortLifeMs ? this.#shortLivesInRow + 1 : 0;
    const pauseMs = pauseAfter(this.#shortLivesInRow);
    log.error({ worker: this.number, pid: worker.pid, how, pause_ms: pauseMs }, "worker ended; starting another one");
    this.#spawnLater(pauseMs);
  }
}

/**
 * The pause before the successor starts, in ms: none after one short life, 100 ms after two in a row, then doubled for
 * each further one, up to the maximum.
 */
function pauseAfter(shortLives: number): number {
  return shortLives < 2 ? 0 : Math.min(pauseMaxMs, pauseMinMs * 2 ** Math.min(shortLives - 2, 10));
}
