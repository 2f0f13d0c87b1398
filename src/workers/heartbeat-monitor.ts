import type { Logger } from "../log/logger.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** How often heartbeats are counted, in ms. A worker sends a report once a second. */
const heartbeatMs = 1_000;
/** A worker that misses more heartbeats than this in a row hangs. */
const missedHeartbeatsMax = 15;

/** Kills workers that hang: their successors answer. */
export class HeartbeatMonitor {
  readonly #workers: () => readonly WorkerProcess[];
  readonly #log: Logger;
  #timer: NodeJS.Timeout | null = null;

  constructor(workers: () => readonly WorkerProcess[], log: Logger) {
    this.#workers = workers;
    this.#log = log;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#count(), heartbeatMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #count(): void {
    for (const worker of this.#workers()) {
      worker.missedHeartbeats += 1;
      if (worker.missedHeartbeats <= missedHeartbeatsMax) continue;
      this.#log.error({ pid: worker.pid, silent_s: missedHeartbeatsMax }, "worker hangs and is killed");
      worker.kill();
    }
  }
}
