import { createHash, type Hash } from "node:crypto";

/** What happened in a run, line by line: a seed gives the same bytes on every version of Node. */
export class Trace {
  readonly #hash: Hash = createHash("sha256");
  readonly #write: ((line: string) => void) | null;
  lines = 0;

  /** @param write receives each line, or `null` */
  constructor(write: ((line: string) => void) | null) {
    this.#write = write;
  }

  /** Adds a line. @param atMs the virtual instant */
  add(atMs: number, text: string): void {
    const line = `${atMs.toFixed(3)} ${text}\n`;
    this.lines += 1;
    this.#hash.update(line);
    this.#write?.(line);
  }

  /** The hash of all lines so far. Nothing can be added after that. */
  digest(): string {
    return this.#hash.digest("hex");
  }
}
