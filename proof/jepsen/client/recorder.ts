/** Writes events to a file, and notices when the machine does not let this process run. */
import { closeSync, openSync, writeSync } from "node:fs";
import type { HistoryEvent } from "../history.ts";
import { nowMs } from "./session.ts";

const checkEveryMs = 100;
/** Shorter delays are usual on a shared machine. */
const stallMs = 500;

export class HistoryRecorder {
  readonly #file: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #lastMs = nowMs();

  /** @param process who watches for stalls; `null`: nobody, as this process itself waits for commands */
  constructor(file: string, process: string | null) {
    this.#file = openSync(file, "a");
    if (process === null) return;
    this.#timer = setInterval(() => {
      const now = nowMs();
      const forMs = now - this.#lastMs - checkEveryMs;
      if (forMs > stallMs) this.add({ type: "stall", process, atMs: now, forMs });
      this.#lastMs = now;
    }, checkEveryMs);
  }

  add(event: HistoryEvent): void {
    writeSync(this.#file, `${JSON.stringify(event)}\n`);
  }

  close(): void {
    clearInterval(this.#timer);
    closeSync(this.#file);
  }
}
