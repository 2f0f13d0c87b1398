import { failureOf } from "../../probe/client/failure.ts";
import { exceedsLimits, type JsonLimits } from "../../probe/parse/json-size.ts";
import type { DcsChange, DcsWatch, WatchEnd } from "../watch/dcs-source.ts";
import type { EtcdClient } from "./etcd-client.ts";
import { ChangeFilter, parseWatchLine, watchRequest, type WatchMessage } from "./etcd-messages.ts";
import { LineSplitter } from "./line-splitter.ts";
import { WatchLimit } from "./watch-limit.ts";

/** What is watched. */
export interface EtcdWatchOptions {
  readonly folder: string;
  readonly afterRevision: number;
  /** How long etcd may take to confirm the watch, in ms. */
  readonly timeoutMs: number;
  readonly onChange: (change: DcsChange) => void;
}

/** The longest message, in bytes. A message holds the events of one revision. */
const messageMax = 1024 * 1024;

/** More members and values than the events of one revision have: parsing takes time by their number. */
const messageLimits: JsonLimits = { members: 4_096, separators: 8_192 };
const flood: WatchEnd = { cause: "flood", detail: "more lines, events or bytes than a watch may send" };

/** One watch of a folder of keys. Once etcd has confirmed it, it has no deadline: the reads show if it hangs. */
export class EtcdWatch implements DcsWatch {
  readonly ended: Promise<WatchEnd>;
  readonly #options: EtcdWatchOptions;
  readonly #abort = new AbortController();
  readonly #filter = new ChangeFilter();
  readonly #limit = new WatchLimit();
  #isConfirmed = false;

  constructor(client: EtcdClient, options: EtcdWatchOptions) {
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
    let isLate = false;
    const timer = setTimeout(() => {
      if (this.#isConfirmed) return;
      isLate = true;
      this.#abort.abort();
    }, timeoutMs);
    try {
      const { status, body } = await client.open("/v3/watch", watchRequest(folder, afterRevision), this.#abort.signal);
      const end = await this.#follow(body, status);
      this.#abort.abort();
      return end;
    } catch (error) {
      if (isLate) return { cause: "failed", detail: `etcd did not confirm the watch within ${timeoutMs} ms` };
      if (this.#abort.signal.aborted) return null;
      const { detail } = failureOf(error);
      return { cause: this.#isConfirmed ? "closed" : "failed", detail };
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(body: AsyncIterable<Buffer>, status: number): Promise<WatchEnd> {
    const splitter = new LineSplitter(messageMax, () => this.#limit.takeLine());
    for await (const chunk of body) {
      if (status !== 200) return { cause: "failed", detail: `etcd answers status ${status}: ${excerpt(chunk)}` };
      const lines = this.#limit.takePiece(chunk.length) ? splitter.add(chunk) : "too_many";
      if (lines === "too_many") return flood;
      if (lines === "too_long") return { cause: "garbage", detail: `a message of more than ${messageMax} bytes` };
      for (const line of lines) {
        if (exceedsLimits(Buffer.from(line), messageLimits)) return flood;
        const message = parseWatchLine(line, this.#options.folder);
        const end = message === null ? garbage(line) : this.#handle(message);
        if (end !== null) return end;
      }
    }
    return { cause: this.#isConfirmed ? "closed" : "failed", detail: "etcd ended the response" };
  }

  #handle(message: WatchMessage): WatchEnd | null {
    if (message.kind === "ended") return message.end;
    if (message.kind === "created") {
      this.#isConfirmed = true;
      return null;
    }
    for (const event of message.events) {
      const change = this.#filter.changeOf(event);
      if (!this.#limit.takeEvent(change !== null)) return flood;
      if (change !== null && !this.#abort.signal.aborted) this.#options.onChange(change);
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
