/** A line that is not written yet. */
interface WaitingLine {
  readonly line: string;
  /** Whether a new file begins with this line. */
  readonly startsFile: boolean;
  readonly atMs: number;
}

/**
 * How much older a line may be than the one before it, in ms. If it is older by more, the clock was set back, and the
 * line begins a new file.
 */
const setBackMinMs = 1_000;

/** Lines of one stream that are not written yet. Bounded: if nothing can be written, further lines are dropped. */
export class WriteQueue {
  readonly #charactersMax: number;
  #waiting: WaitingLine[] = [];
  #characters = 0;
  #dropped = 0;
  #lastAtMs = -Infinity;

  /** @param charactersMax how many characters may wait */
  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** How many lines were dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Adds a line without its line break.
   * @param atMs the time of the line, in ms since the epoch
   * @returns whether there was room for it
   */
  push(line: string, atMs: number): boolean {
    if (this.#characters + line.length > this.#charactersMax) {
      this.#dropped += 1;
      return false;
    }
    const startsFile = atMs < this.#lastAtMs - setBackMinMs;
    this.#lastAtMs = atMs;
    this.#characters += line.length + 1;
    this.#waiting.push({ line, startsFile, atMs });
    return true;
  }

  /** The time of the next line, in ms since the epoch; `null` if none waits. */
  get firstAtMs(): number | null {
    return this.#waiting[0]?.atMs ?? null;
  }

  /** Whether the next line must begin a new file. */
  get startsFile(): boolean {
    return this.#waiting[0]?.startsFile === true;
  }

  /**
   * Returns the next lines of the present file: at most `charactersMax` characters, but at least one line. The lines
   * stay in the queue.
   */
  peek(charactersMax: number): readonly string[] {
    const lines: string[] = [];
    let characters = 0;
    for (const { line, startsFile } of this.#waiting) {
      if (lines.length > 0 && (startsFile || characters + line.length > charactersMax)) break;
      lines.push(line);
      characters += line.length + 1;
    }
    return lines;
  }

  /** Removes the first `count` lines, which are on disk now. */
  removeWritten(count: number): void {
    for (const { line } of this.#waiting.splice(0, count)) this.#characters -= line.length + 1;
  }
}
