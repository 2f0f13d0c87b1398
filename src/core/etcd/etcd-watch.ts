import { failureOf } from "../probe/client/failure.ts";
import { type JsonLimits, exceedsLimits } from "../probe/parse/json-size.ts";
import type { EtcdClient } from "./etcd-client.ts";
import { type KeyEvent, type WatchEnd, type WatchMessage, parseWatchLine, watchRequest } from "./etcd-messages.ts";
import { TokenBucket } from "../probe/client/token-bucket.ts";

/** What is watched. */
export interface EtcdWatchOptions<Change> {
  readonly folder: string;
  readonly afterRevision: number;
  /** How long etcd may take to confirm the watch, in ms. */
  readonly timeoutMs: number;
  readonly limit: WatchLimit;
  /** What an event means; `null`: nothing. */
  readonly changeOf: (event: KeyEvent) => Change | null;
  readonly onChange: (change: Change) => void;
}

const flood: WatchEnd = { cause: "flood", detail: "more lines, events or bytes than a watch may send" };

/** One watch of a folder of keys. Once etcd has confirmed it, it has no deadline: the reads show if it hangs. */
export class EtcdWatch<Change> {
  /** Resolves when the watch ends by itself; never after `cancel`. */
  readonly ended: Promise<WatchEnd>;
  readonly #options: EtcdWatchOptions<Change>;
  readonly #abort = new AbortController();
  #confirmation: "awaited" | "given" | "late" = "awaited";

  constructor(client: EtcdClient, options: EtcdWatchOptions<Change>) {
    this.#options = options;
    this.ended = this.#untilEnd(client);
  }

  /** Does not resolve after `cancel`. */
  async #untilEnd(client: EtcdClient): Promise<WatchEnd> {
    const end = await this.#run(client);
    return end ?? new Promise<never>(() => {});
  }

  cancel(): void {
    this.#abort.abort();
  }

  /** @returns why the watch ended, or `null` if it was cancelled */
  async #run(client: EtcdClient): Promise<WatchEnd | null> {
    const { folder, afterRevision, timeoutMs } = this.#options;
    const timer = setTimeout(() => {
      if (this.#confirmation === "given") return;
      this.#confirmation = "late";
      this.#abort.abort();
    }, timeoutMs);
    try {
      const { status, body } = await client.open("/v3/watch", watchRequest(folder, afterRevision), this.#abort.signal);
      const end = await this.#follow(body, status);
      this.#abort.abort();
      return end;
    } catch (error) {
      if (this.#confirmation === "late")
        return { cause: "failed", detail: `etcd did not confirm the watch within ${timeoutMs} ms` };
      if (this.#abort.signal.aborted) return null;
      const { detail } = failureOf(error);
      return { cause: this.#endCause, detail };
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(body: AsyncIterable<Buffer>, status: number): Promise<WatchEnd> {
    const { limit, folder } = this.#options;
    const { messageMax } = limit;
    const splitter = new LineSplitter(messageMax, () => limit.takeLine());
    for await (const chunk of body) {
      if (status !== 200) return { cause: "failed", detail: `etcd answers status ${status}: ${excerpt(chunk)}` };
      const lines = limit.takePiece(chunk.length) ? splitter.add(chunk) : "too_many";
      if (lines === "too_many") return flood;
      if (lines === "too_long") return { cause: "garbage", detail: `a message of more than ${messageMax} bytes` };
      for (const line of lines) {
        if (limit.isTooLarge(line)) return flood;
        const message = parseWatchLine(line, folder);
        const end = message === null ? garbage(line) : this.#handle(message);
        if (end !== null) return end;
      }
    }
    return { cause: this.#endCause, detail: "etcd ended the response" };
  }

  get #endCause(): "closed" | "failed" {
    return this.#confirmation === "given" ? "closed" : "failed";
  }

  #handle(message: WatchMessage): WatchEnd | null {
    if (message.kind === "ended") return message.end;
    if (message.kind === "created") {
      this.#confirmation = "given";
      return null;
    }
    const { limit, changeOf, onChange } = this.#options;
    for (const event of message.events) {
      const change = changeOf(event);
      if (!limit.takeEvent(change !== null)) return flood;
      if (change !== null && !this.#abort.signal.aborted) onChange(change);
    }
    return null;
  }
}

function garbage(line: string): WatchEnd {
  return { cause: "garbage", detail: `got ${excerpt(line)} in place of a message of a watch` };
}

/** The beginning of a response, without control characters. */
function excerpt(content: Buffer | string): string {
  return JSON.stringify(content.toString().slice(0, 80));
}

/** Why a stream is not read further: a line is too long, or there are too many of them. */
type SplittingEnd = "too_long" | "too_many";

/** Splits a stream of bytes into lines. A line may come in pieces. */
export class LineSplitter {
  readonly #lineMax: number;
  readonly #takeLine: () => boolean;
  #pieces: Buffer[] = [];
  #length = 0;

  /**
   * @param lineMax the longest line accepted, in bytes
   * @param takeLine called for each line, also an empty one; returns whether it may be read
   */
  constructor(lineMax: number, takeLine: () => boolean = () => true) {
    this.#lineMax = lineMax;
    this.#takeLine = takeLine;
  }

  /** Adds a piece. @returns the lines that are complete now, without empty ones, or why it ends */
  add(chunk: Buffer): readonly string[] | SplittingEnd {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      if (this.#length + end - from > this.#lineMax) return "too_long";
      if (!this.#takeLine()) return "too_many";
      const line = Buffer.concat([...this.#pieces, chunk.subarray(from, end)]).toString();
      this.#pieces = [];
      this.#length = 0;
      from = end + 1;
      if (line.trim() !== "") lines.push(line);
    }
    if (from < chunk.length) {
      this.#pieces.push(chunk.subarray(from));
      this.#length += chunk.length - from;
    }
    return this.#length > this.#lineMax ? "too_long" : lines;
  }
}

/** What a watch may send, in units: a line, a KB and an event that changes nothing are one each. */
export interface WatchUnits {
  readonly perSecond: number;
  readonly burst: number;
  /** What a reported change costs. */
  readonly change: number;
  /** The longest message, in bytes. A message holds the events of one revision, or of several. */
  readonly messageMax: number;
  /** More members and values than the events of one revision have: parsing takes time by their number. */
  readonly json: JsonLimits;
}

const bytesPerUnit = 1_024;

/** Limits what one watch may cost. The methods that take return whether the watch may go on. */
export class WatchLimit {
  readonly #bucket: TokenBucket;
  readonly #units: WatchUnits;

  constructor(units: WatchUnits, now: () => number = () => performance.now()) {
    this.#bucket = new TokenBucket(units, now);
    this.#units = units;
  }

  /** The longest message, in bytes. */
  get messageMax(): number {
    return this.#units.messageMax;
  }

  /** Whether a line has more values than may be parsed at once. */
  isTooLarge(line: string): boolean {
    return exceedsLimits(Buffer.from(line), this.#units.json);
  }

  /** A piece of the response, of some bytes. */
  takePiece(bytes: number): boolean {
    return this.#bucket.take(1 + bytes / bytesPerUnit);
  }

  /** A line, also an empty one. */
  takeLine(): boolean {
    return this.#bucket.take(1);
  }

  /** An event that changes nothing, or one that is reported. */
  takeEvent(isChange: boolean): boolean {
    return this.#bucket.take(isChange ? this.#units.change : 1);
  }
}
