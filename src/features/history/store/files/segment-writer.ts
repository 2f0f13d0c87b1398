import type { FileHandle } from "node:fs/promises";
import {
  compressSegment,
  listSegments,
  openForAppending,
  pruneSegments,
  segmentPath,
  type StreamName,
} from "./segment-files.ts";
import type { WriteQueue } from "./write-queue.ts";

/** How much is written at once, in characters. */
const batchCharacters = 256 * 1024;

/** Where and how much one stream is written. */
export interface SegmentSettings {
  readonly directory: string;
  readonly stream: StreamName;
  /** Size of all files of the stream, in bytes. */
  readonly sizeMax: number;
  readonly ageMaxMs: number;
  /** Size at which a file is complete, in bytes. */
  readonly segmentBytes: number;
}

/** What a writer depends on. */
export interface SegmentWriterContext {
  /** Ms since the epoch. */
  readonly wall: () => number;
  /**
   * Returns the lines at the beginning of every file, and of the lines of every process. Later lines refer to them.
   * @param atMs the time of the line after them, in ms since the epoch
   */
  readonly head: (atMs: number) => readonly string[];
  /** Called when the end of a line that an earlier process could not complete was removed. */
  readonly onRepaired: (path: string, bytes: number) => void;
}

/** Writes the files of one stream, one after the other, and deletes or compresses those that are complete. */
export class SegmentWriter {
  readonly #settings: SegmentSettings;
  readonly #context: SegmentWriterContext;
  #file: FileHandle | null = null;
  #bytes = 0;
  #number = 0;

  constructor(settings: SegmentSettings, context: SegmentWriterContext) {
    this.#settings = settings;
    this.#context = context;
  }

  /**
   * Writes the lines of the queue. Those that cannot be written stay in it.
   * @throws the file system's error; the next call opens the file again
   */
  async write(queue: WriteQueue): Promise<void> {
    try {
      while (!queue.isEmpty) {
        if (this.#file === null) await this.#openLast(queue);
        else if (this.#bytes >= this.#settings.segmentBytes || queue.startsFile) await this.#openNext(queue);
        const lines = queue.peek(batchCharacters);
        await this.#append(lines);
        queue.removeWritten(lines.length);
      }
    } catch (error) {
      // The whole batch is written again: remove the part of it that was written.
      await this.#file?.truncate(this.#bytes).catch(() => {});
      await this.close();
      throw error;
    }
  }

  /** Begins the next file at the next call if someone deleted this one. */
  async checkFile(): Promise<void> {
    const info = await this.#file?.stat();
    if (info?.nlink === 0) await this.close();
  }

  /**
   * Deletes files that are too old or exceed the size limit, and compresses complete ones.
   * @throws the file system's error
   */
  async tidy(): Promise<void> {
    const { directory, stream, sizeMax, ageMaxMs, segmentBytes } = this.#settings;
    // The present file may grow to its full size.
    const limits = { sizeMax: sizeMax - segmentBytes, writtenSinceMs: this.#context.wall() - ageMaxMs };
    await pruneSegments(await listSegments(directory, stream), limits);
    for (const segment of await listSegments(directory, stream))
      if (!segment.isCompressed && segment.number < this.#number) await compressSegment(segment);
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => {});
  }

  /** Continues the newest file, unless it is complete or the clock was set back since. */
  async #openLast(queue: WriteQueue): Promise<void> {
    const { directory, stream, segmentBytes } = this.#settings;
    const last = (await listSegments(directory, stream)).at(-1);
    const isContinued =
      last !== undefined &&
      !last.isCompressed &&
      last.bytes < segmentBytes &&
      last.writtenAtMs <= this.#context.wall() + 1_000;
    this.#number = last === undefined ? 1 : isContinued ? last.number : last.number + 1;
    await this.#open(queue);
  }

  async #openNext(queue: WriteQueue): Promise<void> {
    await this.close();
    this.#number += 1;
    await this.#open(queue);
  }

  async #open({ firstAtMs }: WriteQueue): Promise<void> {
    const { directory, stream } = this.#settings;
    const path = segmentPath(directory, stream, this.#number);
    const { file, bytes, removed } = await openForAppending(path);
    this.#file = file;
    this.#bytes = bytes;
    if (removed > 0) this.#context.onRepaired(path, removed);
    await this.#append(this.#context.head(firstAtMs ?? this.#context.wall()));
  }

  async #append(lines: readonly string[]): Promise<void> {
    if (this.#file === null || lines.length === 0) return;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    await this.#file.appendFile(bytes);
    this.#bytes += bytes.length;
  }
}
