import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { HistoryDirectoryConfig } from "../config/history-schema.ts";
import type { Logger } from "../../../core/log/logger.ts";
import { makeDirectory } from "../../../core/files/make-directory.ts";
import { FileLock } from "../../../core/state/files/file-lock.ts";
import { removeLeftovers, streamNames, type StreamName } from "./files/segment-files.ts";
import { SegmentWriter } from "./files/segment-writer.ts";
import { WriteQueue } from "./files/write-queue.ts";

/** What waits for the disk at most, for each stream, in characters. */
const waitingMax = 4 * 1024 * 1024;
/** How long lines wait for others, in ms: a process that is killed loses them. */
const delayMs: Readonly<Record<StreamName, number>> = { events: 20, evidence: 500, lag: 10_000 };
/** How long nothing is tried after an error, in ms. */
const retryMs = 5_000;
/** How often the lock is confirmed, in ms. */
const confirmMs = 10_000;
/** How often old files are looked for, in ms. */
const tidyMs = 60_000;
/** How long the end of the process waits for the disk, in ms. */
const closeMaxMs = 2_000;
/** The share of each stream of the whole size. */
const shares: Readonly<Record<StreamName, number>> = { events: 0.25, evidence: 0.65, lag: 0.1 };
/** Files of one stream, before they are compressed. */
const filesOfStream = 16;

/** What a writer of a history depends on. */
export interface HistoryWriterContext {
  readonly log: Logger;
  /** Ms since the epoch. */
  readonly wall: () => number;
  /** The lines that each evidence file begins with. @param atMs their time, in ms since the epoch */
  readonly evidenceHead: (atMs: number) => readonly string[];
}

/** One stream: its lines that wait, and its files. */
interface Stream {
  readonly queue: WriteQueue;
  readonly files: SegmentWriter;
}

/** What the writer does. */
type WriterState =
  | { readonly phase: "idle" }
  /** It writes at `dueMs`, in ms of the monotonic clock. */
  | { readonly phase: "waiting"; readonly timer: NodeJS.Timeout; readonly dueMs: number }
  | { readonly phase: "writing"; readonly ended: Promise<void> }
  /** Final. */
  | { readonly phase: "closed" };

/**
 * Writes the history to one directory, in the background: one operation at a time, so that a slow disk never holds more
 * than one thread. A failure is logged once, lines wait for the next attempt, and those that do not fit are dropped.
 */
export class HistoryWriter {
  readonly #config: HistoryDirectoryConfig;
  readonly #context: HistoryWriterContext;
  readonly #lock: FileLock;
  readonly #streams: Readonly<Record<StreamName, Stream>>;
  #state: WriterState = { phase: "idle" };
  #problem: string | null = null;
  #notBeforeMs = -Infinity;
  #confirmedMs = -Infinity;
  #tidiedMs = -Infinity;

  constructor(config: HistoryDirectoryConfig, context: HistoryWriterContext) {
    this.#config = config;
    this.#context = context;
    this.#lock = new FileLock(join(config.directory, "lock"));
    this.#streams = {
      events: this.#streamOf("events"),
      evidence: this.#streamOf("evidence"),
      lag: this.#streamOf("lag"),
    };
  }

  /** How many lines were dropped because the disk was too slow or could not be written. */
  get dropped(): number {
    return streamNames.reduce((sum, name) => sum + this.#streams[name].queue.dropped, 0);
  }

  /** Whether the last attempt to write succeeded. */
  get isWriting(): boolean {
    return this.#problem === null;
  }

  /** Adds a line. Returns at once. @param atMs the time that it begins with, in ms since the epoch */
  add(stream: StreamName, line: string, atMs: number): void {
    if (this.#state.phase === "closed") return;
    const isKept = this.#streams[stream].queue.push(line, atMs);
    // A disk that does not answer at all never ends an attempt: only the full queue shows it.
    if (!isKept) this.#report("the disk is too slow: lines are dropped");
    this.#schedule(delayMs[stream]);
  }

  /** Writes what waits, for at most two seconds, and gives the directory back. */
  async close(): Promise<void> {
    const before = this.#state;
    this.#state = { phase: "closed" };
    if (before.phase === "waiting") clearTimeout(before.timer);
    const end = async (): Promise<void> => {
      if (before.phase === "writing") await before.ended;
      const waits = streamNames.some((name) => !this.#streams[name].queue.isEmpty);
      if (waits) await this.#writeAndReport();
      for (const name of streamNames) await this.#streams[name].files.close();
      await this.#lock.release();
    };
    await Promise.race([end(), pause(closeMaxMs, undefined, { ref: false })]);
  }

  #streamOf(stream: StreamName): Stream {
    const { directory, sizeMax, ageMaxMs } = this.#config;
    const bytes = Math.floor(sizeMax * shares[stream]);
    const segmentBytes = Math.floor(bytes / filesOfStream);
    const { log, wall, evidenceHead } = this.#context;
    return {
      queue: new WriteQueue(waitingMax),
      files: new SegmentWriter(
        { directory, stream, sizeMax: bytes, ageMaxMs, segmentBytes },
        {
          wall,
          head: stream === "evidence" ? evidenceHead : () => [],
          onRepaired: (file, removed) =>
            log.warn({ file, removed_bytes: removed }, "incomplete line at the end of a history file removed"),
        },
      ),
    };
  }

  #schedule(ms: number): void {
    const nowMs = performance.now();
    const dueMs = Math.max(nowMs + ms, this.#notBeforeMs);
    const state = this.#state;
    if (state.phase === "waiting") {
      if (state.dueMs <= dueMs) return;
      clearTimeout(state.timer);
    } else if (state.phase !== "idle") return;
    this.#state = { phase: "waiting", dueMs, timer: setTimeout(() => this.#start(), dueMs - nowMs).unref() };
  }

  #start(): void {
    const ended = this.#writeAndReport().finally(() => {
      if (this.#state.phase === "writing") this.#state = { phase: "idle" };
      for (const name of streamNames) if (!this.#streams[name].queue.isEmpty) this.#schedule(delayMs[name]);
    });
    this.#state = { phase: "writing", ended };
  }

  async #writeAndReport(): Promise<void> {
    let problem: string | null;
    try {
      problem = await this.#lockDirectory();
      if (problem === null) await this.#writeAll();
    } catch (error) {
      problem = errorMessage(error);
    }
    if (problem !== null) this.#notBeforeMs = performance.now() + retryMs;
    this.#report(problem);
  }

  /** Logs the beginning and the end of a time in which nothing can be written. */
  #report(problem: string | null): void {
    const { directory } = this.#config;
    const { log } = this.#context;
    if (problem !== null && this.#problem === null)
      log.error({ directory, problem }, "history not written; the service goes on without it");
    if (problem === null && this.#problem !== null)
      log.info({ directory, dropped: this.dropped }, "history is written");
    this.#problem = problem;
  }

  /** @returns why this process may not write, or `null` */
  async #lockDirectory(): Promise<string | null> {
    const { directory } = this.#config;
    const nowMs = performance.now();
    if (nowMs - this.#confirmedMs < confirmMs) return null;
    if (!(await this.#lock.confirm())) {
      await makeDirectory(directory, 0o700);
      const holder = await this.#lock.acquire();
      if (holder !== null) return `the directory must be used by one process, got ${holder} that uses it too`;
      await removeLeftovers(directory);
    }
    for (const name of streamNames) await this.#streams[name].files.checkFile();
    this.#confirmedMs = nowMs;
    return null;
  }

  async #writeAll(): Promise<void> {
    for (const name of streamNames) await this.#streams[name].files.write(this.#streams[name].queue);
    const nowMs = performance.now();
    if (this.#state.phase === "closed" || nowMs - this.#tidiedMs < tidyMs) return;
    this.#tidiedMs = nowMs;
    for (const name of streamNames) await this.#streams[name].files.tidy();
  }
}
