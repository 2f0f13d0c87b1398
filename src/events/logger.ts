import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { pino, type Logger } from "pino";
import type { LogConfig } from "../config/model/config.ts";
import type { VerdictChange } from "./verdict-changes.ts";

export type { Logger } from "pino";

/** At most so many bytes of lines wait for a reader of stderr that is behind. Further lines are lost and counted. */
const waitingMax = 1024 * 1024;
/** How often a reader that is behind is tried again, in ms. */
const retryMs = 25;
/** How long the end of the process waits for such a reader, in ms. */
const farewellMs = 200;

const sinks = new WeakMap<Logger, LogSink>();

/**
 * A log of one JSON line an event, on stderr. Lines are written at once, as the last ones matter most; a reader that has stopped costs
 * lines, never time.
 */
export function makeLog({ level }: LogConfig): Logger {
  const fd = nonBlockingStderr();
  const sink = new LogSink((bytes) => writeSync(fd, bytes));
  const log = pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, sink);
  process.once("exit", () => sink.flushSync());
  sinks.set(log, sink);
  return log;
}

/** How many lines of a log nobody will read: its reader had stopped, or was gone. */
export function lostLinesOf(log: Logger): number {
  return sinks.get(log)?.lost ?? 0;
}

/** Writes lines in their order without ever waiting, and keeps a bounded number of them for a reader that is behind. */
export class LogSink {
  readonly #writeSome: (bytes: Buffer) => number;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isFull = false;
  /** Lost lines that the log does not say yet. */
  #untold = 0;
  #lost = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @param writeSome writes what can be written at once and returns its length; throws EAGAIN where that is nothing */
  constructor(writeSome: (bytes: Buffer) => number) {
    this.#writeSome = writeSome;
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
    if (this.#untold > 0) this.#push(this.#notice());
    this.#push(line);
    this.#drain();
  }

  /** Writes what waits, for the end of the process: waits a moment for a reader that reads. */
  flushSync(): void {
    const endMs = performance.now() + farewellMs;
    this.#drain();
    while (this.#waiting.length > 0 && performance.now() < endMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      this.#drain();
    }
  }

  #push(line: string): void {
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > waitingMax) this.#isFull = true;
  }

  #drain(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const written = this.#try(first);
      this.#waitingBytes -= written;
      if (written < first.length) {
        this.#waiting[0] = first.subarray(written);
        break;
      }
      this.#waiting.shift();
    }
    // Half of it, so that a slow reader does not get a notice for every other line.
    if (this.#waitingBytes < waitingMax / 2) this.#isFull = false;
    if (this.#waiting.length > 0 && this.#timer === null)
      this.#timer = setTimeout(() => this.#retry(), retryMs).unref();
  }

  #retry(): void {
    this.#timer = null;
    this.#drain();
    if (this.#untold === 0 || this.#waiting.length > 0) return;
    this.#push(this.#notice());
    this.#drain();
  }

  /** @returns how many bytes are done with: a reader that is gone takes them all */
  #try(bytes: Buffer): number {
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
    this.#untold += count;
  }

  #notice(): string {
    const lost = this.#untold;
    this.#untold = 0;
    const line = {
      level: pino.levels.values["warn"],
      time: new Date().toISOString(),
      lost,
      msg: "log lines lost because stderr was not read",
    };
    return `${JSON.stringify(line)}\n`;
  }
}

/**
 * Makes sure that writing to stderr does not wait: pipes and terminals are opened once more, as their mode belongs to everyone who has
 * them open; where that cannot be, and for sockets, Node's own stream sets it.
 */
function nonBlockingStderr(): number {
  const stat = fstatSync(2);
  if (stat.isFIFO() || isatty(2)) {
    try {
      return openSync("/dev/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // No such file system, or a pipe of another user.
    }
  }
  if (stat.isFIFO() || stat.isSocket()) void process.stderr;
  return 2;
}

/** Lets a bounded number of lines of one kind through in each span of time, and counts the others. */
export class LineLimit {
  readonly #max: number;
  readonly #spanMs: number;
  readonly #onOmitted: (count: number, spanMs: number) => void;
  #timer: NodeJS.Timeout | null = null;
  #lines = 0;
  #omitted = 0;

  /** @param onOmitted called at the end of a span in which lines were left out, with their number */
  constructor(max: number, spanMs: number, onOmitted: (count: number, spanMs: number) => void) {
    this.#max = max;
    this.#spanMs = spanMs;
    this.#onOmitted = onOmitted;
  }

  /** Whether one more line may be written. @param count how many events it stands for */
  take(count: number = 1): boolean {
    this.#timer ??= setTimeout(() => this.end(), this.#spanMs).unref();
    this.#lines += 1;
    if (this.#lines <= this.#max) return true;
    this.#omitted += count;
    return false;
  }

  /** Ends the span now. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const omitted = this.#omitted;
    this.#timer = null;
    this.#lines = 0;
    this.#omitted = 0;
    if (omitted > 0) this.#onOmitted(omitted, this.#spanMs);
  }
}

/** One line a change of role, verdict or reachability (nothing a check). */
export function logChange(log: Logger, { cluster, node, before, after, failure }: VerdictChange): void {
  const fields = {
    cluster,
    node,
    ...after,
    ...(before === null ? {} : { before }),
    ...(after.isReachable || failure === null ? {} : { failure }),
  };
  if (before === null) log.info(fields, "node seen");
  else if (before.isReachable !== after.isReachable)
    log.warn(fields, after.isReachable ? "node answers again" : "node does not answer");
  else log.info(fields, before.role === after.role ? "verdict changed" : "role changed");
}
