import { gzipSync } from "node:zlib";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import type { ClockReading } from "../../../core/state/clock.ts";
import { ChangeEncoder } from "../feed/change-codec.ts";
import { sendingTime } from "../feed/feed-messages.ts";

/** How long an outcome may wait for others to be sent with it, in ms: each message has a fixed cost. */
const batchMs = 5;
/** So many changes a message has at most: after a standstill thousands wait, and followers take no line without bound. */
const changesMax = 256;
/** What is kept for followers that come back: for so long, in ms, and so many bytes. */
const kept = { ms: 30_000, bytes: 8 * 1024 * 1024 } as const;
/** All groups together keep so many bytes. */
const keptInAll = 32 * 1024 * 1024;

/** A message that was written, for all followers. */
interface Batch {
  readonly seq: number;
  readonly atMs: number;
  readonly bytes: Buffer;
}

/** What a group depends on. */
export interface FeedGroupContext {
  /** Reads the owner's clock, and looks for a gap first. */
  readonly reading: () => ClockReading;
  readonly setTimer: SetTimer;
  /** How many groups there are: they share what may be kept. */
  readonly groups: () => number;
  /** Sends a message to all followers of the group. Must not throw. */
  readonly send: (bytes: Buffer) => void;
}

/** What the followers of the same clusters get: each message is written once, whatever their number. */
export class FeedGroup {
  readonly #context: FeedGroupContext;
  readonly #encoder = new ChangeEncoder();
  #pending: ProbeOutcome[] = [];
  #cancelTimer: CancelTimer | null = null;
  #batches: Batch[] = [];
  #bytes = 0;
  #seq = 0;

  constructor(context: FeedGroupContext) {
    this.#context = context;
  }

  /** The number of the last message. */
  get seq(): number {
    return this.#seq;
  }

  /** Adds an outcome to the next message. */
  add(outcome: ProbeOutcome): void {
    if (this.#pending.length === 0) this.#cancelTimer = this.#context.setTimer(() => this.flush(), batchMs);
    this.#pending.push(outcome);
  }

  /** Sends what is pending now. */
  flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    this.#pending = [];
    for (let from = 0; from < pending.length; from += changesMax) this.#write(pending.slice(from, from + changesMax));
  }

  #write(outcomes: readonly ProbeOutcome[]): void {
    const time = sendingTime(this.#context.reading());
    const changes = outcomes.map((outcome) => this.#encoder.encode(outcome, time.at));
    this.#seq += 1;
    const bytes = compressedLine(JSON.stringify({ changes, seq: this.#seq, ...time }));
    this.#keep({ seq: this.#seq, atMs: time.at, bytes });
    this.#context.send(bytes);
  }

  /** To be called before a follower joins that has got nothing: each document is written in full next time. */
  beginAnew(): void {
    this.flush();
    this.#encoder.reset();
  }

  /** The messages after the one with this number; `null` if some of them are no longer kept. */
  since(seq: number): readonly Buffer[] | null {
    this.flush();
    if (seq > this.#seq) return null;
    const missed = this.#batches.filter((batch) => batch.seq > seq);
    return missed.length === this.#seq - seq ? missed.map(({ bytes }) => bytes) : null;
  }

  /** Ends the group. */
  stop(): void {
    this.#cancelTimer?.();
    this.#pending = [];
  }

  #keep(batch: Batch): void {
    this.#batches.push(batch);
    this.#bytes += batch.bytes.length;
    const most = Math.min(kept.bytes, keptInAll / Math.max(1, this.#context.groups()));
    let dropped = 0;
    for (const { bytes, atMs } of this.#batches) {
      if (this.#bytes <= most && batch.atMs - atMs <= kept.ms) break;
      this.#bytes -= bytes.length;
      dropped += 1;
    }
    if (dropped > 0) this.#batches = this.#batches.slice(dropped);
  }
}

/** A message as it is sent: a line of JSON, compressed by itself, so that it is the same for every follower. */
export function compressedLine(json: string): Buffer {
  return gzipSync(`${json}\n`, { level: 1 });
}
