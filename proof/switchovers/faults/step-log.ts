/** The steps of a switchover as rolecall writes them to its log, read as they are written. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Between two looks at the file, in ms. */
const everyMs = 1;

export class StepLog {
  readonly #file: number;
  #offset: number;
  #text = "";

  /** Follows a file from its present end. */
  constructor(path: string) {
    this.#file = openSync(path, "r");
    this.#offset = fstatSync(this.#file).size;
  }

  /** All that was written since the beginning. */
  get text(): string {
    this.#read();
    return this.#text;
  }

  /** The steps since the beginning, without notes. */
  get steps(): readonly string[] {
    return [...this.text.matchAll(/"step":"(\w+)"/g)].map(([, step]) => step ?? "").filter((step) => step !== "note");
  }

  /**
   * Waits for a step.
   * @param isOver whether it cannot come any more
   * @returns whether it came
   */
  async sees(step: string, isOver: () => boolean): Promise<boolean> {
    for (;;) {
      if (this.steps.includes(step)) return true;
      if (isOver()) return false;
      await sleep(everyMs);
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(): void {
    const buffer = Buffer.alloc(65_536);
    for (;;) {
      const count = readSync(this.#file, buffer, 0, buffer.length, this.#offset);
      if (count === 0) return;
      this.#offset += count;
      this.#text += buffer.toString("utf8", 0, count);
    }
  }
}
