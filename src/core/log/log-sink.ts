import { escapeUnsafe } from "../cluster/values/unsafe-text.ts";

/** At most so many bytes of lines wait for a reader of stderr that is behind. Further lines are lost and counted. */
const waitingMax = 1024 * 1024;
/** How often a write to a reader that is behind is tried again, in ms. */
const retryMs = 25;
/** How long the end of the process waits for such a reader, in ms. */
const finalFlushMs = 200;

/** Writes lines in order without ever blocking, and keeps a bounded number of them for a reader that is behind. */
export class LogSink {
  readonly #writeSome: (bytes: Buffer) => number;
  readonly #toText: (line: string) => string;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isFull = false;
  /** Lost lines that the log does not mention yet. */
  #unreported = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param writeSome writes as much as it can without blocking and returns that length; throws EAGAIN if it can write
   * nothing
   * @param toText converts a JSON line, with its line break, to what is written. Default: the line, in which what could
   * control a terminal is escaped
   */
  constructor(writeSome: (bytes: Buffer) => number, toText: (line: string) => string = escapeUnsafe) {
    this.#writeSome = writeSome;
    this.#toText = toText;
  }

  /** How many lines were lost so far. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    this.#drain();
    if (this.#isFull) {
      this.#lose(1);
      return;
    }
    if (this.#unreported > 0) this.#push(this.#notice());
    this.#push(line);
    this.#drain();
  }

  /** Writes the waiting lines at the end of the process. Waits a moment for a reader that still reads. */
  flushSync(): void {
    const endMs = performance.now() + finalFlushMs;
    this.#drain();
    while (this.#waiting.length > 0 && performance.now() < endMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      this.#drain();
    }
  }

  #push(line: string): void {
    const bytes = Buffer.from(this.#toText(line));
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > waitingMax) this.#isFull = true;
  }

  #drain(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const written = this.#tryWrite(first);
      this.#waitingBytes -= written;
      if (written < first.length) {
        this.#waiting[0] = first.subarray(written);
        break;
      }
      this.#waiting.shift();
    }
    // Half of the limit, so that a slow reader does not get a notice for every other line.
    if (this.#waitingBytes < waitingMax / 2) this.#isFull = false;
    if (this.#waiting.length > 0 && this.#timer === null)
      this.#timer = setTimeout(() => this.#retry(), retryMs).unref();
  }

  #retry(): void {
    this.#timer = null;
    this.#drain();
    if (this.#unreported === 0 || this.#waiting.length > 0) return;
    this.#push(this.#notice());
    this.#drain();
  }

  /** @returns how many bytes are dealt with: all of them if the reader is gone */
  #tryWrite(bytes: Buffer): number {
    try {
      return this.#writeSome(bytes);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return 0;
      this.#lose(1);
      return bytes.length;
    }
  }

  #lose(count: number): void {
    this.#lost += count;
    this.#unreported += count;
  }

  #notice(): string {
    const lost = this.#unreported;
    this.#unreported = 0;
    const line = {
      level: "warn",
      time: new Date().toISOString(),
      lost,
      msg: "log lines lost because stderr was not read",
    };
    return `${JSON.stringify(line)}\n`;
  }
}
