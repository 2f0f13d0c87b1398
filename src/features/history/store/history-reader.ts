import { setTimeout as pause } from "node:timers/promises";
import type { ClusterEvent } from "../../../core/events/cluster-event.ts";
import type {
  ReadingContext,
  StoredChange,
  StoredEvents,
  StoredEventsQuery,
  StoredEvidence,
} from "../../../core/events/stored/past.ts";
import { type EvidenceQuery, EvidenceScan } from "./evidence-scan.ts";
import { LagSteps } from "../../../core/events/stored/lag-steps.ts";
import { changeOf, clusterNameOf, eventOf, lagsOf, parseLine, readLineHead } from "./history-lines.ts";
import { type Segment, type StreamName, listSegments } from "./files/segment-files.ts";
import { lastOf, scanSegment } from "./files/segment-scan.ts";
import { type ReadingLimits, readLines } from "./files/segment-reader.ts";

/** How long one request may read, in ms. */
const readingMaxMs = 10_000;
/** How long the disk may take to list the files, in ms. */
const listingMaxMs = 5_000;
/** How much one request may read, in bytes after decompression. */
const readingMaxBytes = 256 * 1024 * 1024;
/** How much of the end of the history is read when rolecall starts, in bytes on disk. */
const recentBytes = 8 * 1024 * 1024;
/** How much is read at the start, in bytes after decompression. */
const recentReadingMax = 64 * 1024 * 1024;
/** More clusters than one rolecall monitors. */
const clustersMax = 10_000;
/** How long after an event it may be written, in ms: some ends are sure only after a while. */
const foundLateMaxMs = 60_000;
/** Times of a file are as exact as the clock of the file system, in ms. */
const slackMs = 1_000;

/** Reads the history in a directory, piece by piece and with limits. Never throws: what cannot be read is left out. */
export class HistoryReader {
  readonly #directory: string;
  readonly #onDamaged: ReadingLimits["onDamaged"];

  /** @param onDamaged called with a file and the number of its lines that could not be read */
  constructor(directory: string, onDamaged: ReadingLimits["onDamaged"]) {
    this.#directory = directory;
    this.#onDamaged = onDamaged;
  }

  /** The newest events of a time, read from the newest file to the oldest until there are enough. */
  async readEvents(query: StoredEventsQuery, context: ReadingContext = {}): Promise<StoredEvents> {
    const found = new BackwardList<ClusterEvent>(query.limit);
    const endFile = (isWhole: boolean): boolean => found.endFile(isWhole);
    const isComplete = await this.#scan("events", { fromMs: query.sinceMs, context, endFile }, (text) => {
      const line = readLineHead(text);
      if (line === null) return text === "" ? "read" : "damaged";
      if (line.atMs > query.untilMs + foundLateMaxMs) return "past";
      if (line.kind !== "event" || line.atMs < query.sinceMs) return "read";
      const event = eventOf(parseLine(line) ?? {});
      if (event === null) return "damaged";
      const isWithin = event.at >= query.sinceMs && event.at <= query.untilMs;
      if (isWithin && query.matches(event)) found.add(event);
      return "read";
    });
    return { events: found.newest, isComplete };
  }

  /** The events and verdict changes at the end of the history, oldest first, as far as a few megabytes go back. */
  async readRecent(): Promise<{ readonly events: readonly ClusterEvent[]; readonly changes: readonly StoredChange[] }> {
    const events = new BackwardList<ClusterEvent>(Infinity);
    const changes = new BackwardList<StoredChange>(Infinity);
    const endFile = (isWhole: boolean): boolean => {
      events.endFile(isWhole);
      changes.endFile(isWhole);
      return false;
    };
    const range = { fromMs: -Infinity, context: {}, lastBytes: recentBytes, readingBytes: recentReadingMax, endFile };
    await this.#scan("events", range, (text) => {
      const line = readLineHead(text);
      const body = line === null ? null : parseLine(line);
      if (line === null || body === null) return text === "" ? "read" : "damaged";
      const event = line.kind === "event" ? eventOf(body) : null;
      const change = line.kind === "verdict" ? changeOf(body) : null;
      if (event !== null) events.add(event);
      if (change !== null) changes.add(change);
      const isKnown = line.kind === "event" || line.kind === "verdict";
      return isKnown && event === null && change === null ? "damaged" : "read";
    });
    return { events: events.newest, changes: changes.newest };
  }

  /** The evidence of one cluster and time. */
  async readEvidence(query: EvidenceQuery, context: ReadingContext = {}): Promise<StoredEvidence> {
    const scan = new EvidenceScan(query);
    const range = { fromMs: query.fromWallMs, context };
    const isComplete = await this.#scan("evidence", range, (text) => scan.add(text));
    return { ...scan.result, isComplete: isComplete && scan.result.isComplete };
  }

  /** The clusters with evidence between two times, in ms since the epoch, sorted by name. */
  async readClusters({
    fromWallMs,
    toWallMs,
  }: Pick<EvidenceQuery, "fromWallMs" | "toWallMs">): Promise<readonly string[]> {
    const names = new Set<string>();
    await this.#scan("evidence", { fromMs: fromWallMs, context: {} }, (text) => {
      const line = readLineHead(text);
      if (line === null) return "read";
      if (line.atMs > toWallMs) return "past";
      const name = line.atMs >= fromWallMs && line.kind === "outcome" ? clusterNameOf(text) : null;
      if (name !== null && names.size < clustersMax) names.add(name);
      return "read";
    });
    return [...names].toSorted();
  }

  /**
   * Adds the stored lag of one cluster to `steps`.
   * @returns `false` if reading ended early, because of its time or its size
   */
  readLag(cluster: string, steps: LagSteps, context: ReadingContext = {}): Promise<boolean> {
    const clusterField = `"c":${JSON.stringify(cluster)},`;
    return this.#scan("lag", { fromMs: steps.fromMs, context }, (text) => {
      const line = readLineHead(text);
      if (line === null) return text === "" ? "read" : "damaged";
      if (line.atMs > steps.toMs) return "past";
      const isWanted = line.kind === "lag" && line.atMs >= steps.fromMs && text.includes(clusterField);
      if (!isWanted) return "read";
      const body = parseLine(line) ?? {};
      const lags = lagsOf(body);
      if (lags === null) return "damaged";
      if (body["c"] === cluster) steps.add(line.atMs, lags);
      return "read";
    });
  }

  /** When the oldest evidence was recorded, in ms since the epoch; `null` if there is none. */
  async oldestEvidenceMs(context: ReadingContext = {}): Promise<number | null> {
    return this.#withLimits(context, readingMaxBytes, async (limits) => {
      const [oldest] = await this.#segments("evidence");
      if (oldest === undefined) return null;
      for await (const lines of readLines(oldest, { ...limits, onDamaged: () => {} })) {
        const found = lines.map(readLineHead).find((line) => line !== null);
        if (found !== undefined) return found.atMs;
      }
      return null;
    });
  }

  /**
   * Calls `read` with each line of the files that were written since `fromMs`, until time or size is used up.
   * @returns whether all was read that is wanted
   */
  async #scan(
    stream: StreamName,
    { fromMs, context, lastBytes = Infinity, readingBytes = readingMaxBytes, endFile }: ScanRange,
    read: (text: string) => "read" | "past" | "damaged",
  ): Promise<boolean> {
    return this.#withLimits(context, readingBytes, async (limits) => {
      const hasEnded = (): boolean => limits.signal.aborted || limits.bytesLeft < 0;
      const segments = await this.#segments(stream);
      const last = lastOf(segments, lastBytes);
      for (const { segment, fromByte } of endFile === undefined ? last : last.toReversed()) {
        if (segment.writtenAtMs < fromMs - slackMs) continue;
        await scanSegment(readLines(segment, limits, fromByte), read, {
          onDamaged: (lines) => this.#onDamaged(segment.path, lines),
          charge: context.charge ?? (() => {}),
        });
        if (endFile?.(!hasEnded()) === true) return true;
        if (hasEnded()) return false;
      }
      return !hasEnded();
    });
  }

  /** Reads until the time of one request is over or nobody waits for it. @param bytes how much is read at most */
  async #withLimits<T>(
    context: ReadingContext,
    bytes: number,
    read: (limits: ReadingLimits) => Promise<T>,
  ): Promise<T> {
    const deadline = new AbortController();
    const expire = (): void => deadline.abort();
    const timer = setTimeout(expire, readingMaxMs);
    context.signal?.addEventListener("abort", expire, { once: true });
    // A signal that is aborted already calls no listener.
    if (context.signal?.aborted === true) expire();
    try {
      return await read({ signal: deadline.signal, bytesLeft: bytes, onDamaged: this.#onDamaged });
    } finally {
      clearTimeout(timer);
      context.signal?.removeEventListener("abort", expire);
    }
  }

  #segments(stream: StreamName): Promise<readonly Segment[]> {
    return Promise.race([
      listSegments(this.#directory, stream).catch(() => []),
      pause(listingMaxMs, [], { ref: false }),
    ]);
  }
}

interface ScanRange {
  readonly fromMs: number;
  readonly context: ReadingContext;
  /** How much is read at the end, in bytes on disk. */
  readonly lastBytes?: number;
  /** How much is read, in bytes after decompression. */
  readonly readingBytes?: number;
  /**
   * Called after each file, with whether it was read to its end. Files are read from the newest to the oldest then.
   * @returns whether that is enough
   */
  readonly endFile?: (isWhole: boolean) => boolean;
}

/**
 * Collects items from files that are read from the newest to the oldest, each from its beginning to its end. Reading
 * can end early: the items after that place are complete then.
 */
export class BackwardList<T> {
  readonly #limit: number;
  #found: readonly T[] = [];
  #ofFile: T[] = [];

  /** @param limit how many items are kept: the newest */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The newest items, oldest first. */
  get newest(): readonly T[] {
    return this.#found.slice(-this.#limit);
  }

  /** Adds the next item of the present file. */
  add(item: T): void {
    this.#ofFile.push(item);
    if (this.#ofFile.length >= 2 * this.#limit) this.#ofFile.splice(0, this.#ofFile.length - this.#limit);
  }

  /**
   * Ends the present file.
   * @param isWhole whether it was read to its end; if not, its items count only if there are no newer ones
   * @returns whether older files add nothing, because there are enough items
   */
  endFile(isWhole: boolean): boolean {
    if (isWhole || this.#found.length === 0) this.#found = [...this.#ofFile, ...this.#found];
    this.#ofFile = [];
    return this.#found.length >= this.#limit;
  }
}
