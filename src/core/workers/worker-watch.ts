import { readFileSync } from "node:fs";
import { LimitedLines } from "../log/limited-lines.ts";
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
    this.#timer = null;
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

/** How often workers are examined, in ms. A client of a stopped worker waits that long, and must not wait 250 ms. */
const periodMs = 100;

/**
 * Continues workers that a signal has stopped (SIGSTOP, SIGTSTP). The system gives new connections to the other
 * workers, but the connections that a stopped worker has accepted would wait for {@link HeartbeatMonitor} to kill it.
 * To continue it costs no client its connection. Systems without /proc tell no state: there nothing is continued.
 */
export class StoppedWorkers {
  readonly #workers: () => readonly WorkerProcess[];
  readonly #lines: LimitedLines;
  #timer: NodeJS.Timeout | null = null;

  constructor(workers: () => readonly WorkerProcess[], log: Logger) {
    this.#workers = workers;
    this.#lines = new LimitedLines(log, { what: "stopped workers", level: "warn", max: 5, periodMs: 60_000 });
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#examine(), periodMs);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#lines.end();
  }

  #examine(): void {
    for (const worker of this.#workers()) {
      if (!isStopped(worker.pid)) continue;
      worker.continue();
      this.#lines.write({ level: "warn", text: "worker was stopped by a signal and continues" }, () => ({
        pid: worker.pid,
      }));
    }
  }
}

/** Whether a signal has stopped a process: its state in /proc/PID/stat follows the name in parentheses (proc(5)). */
function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.startsWith(" T ", stat.lastIndexOf(")") + 1);
  } catch {
    return false;
  }
}
