import { errorMessage } from "../cluster/values/error-message.ts";
import type { Durability } from "../cluster/drain.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import type { ClusterConfig } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import { removeStaleDrafts } from "./files/atomic-file.ts";
import { inTime, late } from "./files/in-time.ts";
import { noBootClock, type BootClock, type BootSource } from "./boot-clock.ts";
import { noSavedState, readSavedState, writeSavedState, type SavedState } from "./saved-state.ts";

/**
 * How long the start waits for the file, and the end for its last write, in ms. A file system that hangs must keep
 * neither waiting.
 */
const waitMax = 2_000;

/** The state file of a running process. Without a configured path every method does nothing. */
export class StateFile {
  readonly #path: () => string | null;
  readonly #log: Logger;
  readonly #boot: BootSource | null;
  readonly #heard: () => readonly string[];
  #written: Promise<Durability> = Promise.resolve({ kind: "durable" });
  /** The write that is queued and has not begun. It will save the state as of its beginning, so one is enough. */
  #pending: Promise<Durability> | null = null;

  /**
   * @param path the configured path; a reload may change it
   * @param boot without it, nothing that has an instant is kept
   * @param heard the clusters of which another instance has told this one something
   */
  constructor(
    path: () => string | null,
    log: Logger,
    {
      boot = null,
      heard = () => [],
    }: { readonly boot?: BootSource | null; readonly heard?: () => readonly string[] } = {},
  ) {
    this.#heard = heard;
    this.#path = path;
    this.#boot = boot;
    this.#log = log;
  }

  /** Resolves when every write requested so far has ended, after {@link waitMax} at the latest. */
  async flush(): Promise<void> {
    if ((await inTime(this.#written, waitMax)) !== late) return;
    this.#log.error({ file: this.#path() }, `state file not written: the file system did not answer in ${waitMax} ms`);
  }

  /** Reads what an earlier run saved for these clusters, for {@link waitMax} at most. Problems are logged. */
  async read(clusters: readonly ClusterConfig[]): Promise<SavedState> {
    const file = this.#path();
    if (file === null) return noSavedState;
    const read = await inTime(readSavedState(file, clusters, this.#bootClock), waitMax);
    const saved = read === late ? { ...noSavedState, problems: [`it must be readable within ${waitMax} ms`] } : read;
    for (const problem of saved.problems)
      this.#log.warn({ file, problem }, "state file not used, or used only in part");
    return saved;
  }

  /** Removes the drafts of earlier runs that were killed while writing. */
  async removeStaleDrafts(): Promise<void> {
    const file = this.#path();
    if (file === null) return;
    const removed = await inTime(removeStaleDrafts(file), waitMax);
    if (removed !== late && removed.length > 0) this.#log.info({ file, removed }, "unfinished state files removed");
  }

  /**
   * Writes the file, one write after the other. All that is requested before a write begins shares it. A failure is
   * logged.
   * @param current gives the snapshot when the write begins
   * @returns what became of it, after {@link waitMax} at the latest; never rejects
   */
  async write(current: () => Snapshot): Promise<Durability> {
    if (this.#path() === null) return { kind: "volatile" };
    if (this.#pending === null) {
      this.#pending = this.#written.then(() => this.#writeNow(current));
      this.#written = this.#pending;
    }
    const written = await inTime(this.#pending, waitMax);
    return written === late ? { kind: "failed", problem: `the disk did not answer in ${waitMax} ms` } : written;
  }

  get #bootClock(): BootClock {
    return this.#boot === null ? noBootClock : this.#boot.clock.bootClock(this.#boot.bootId());
  }

  async #writeNow(current: () => Snapshot): Promise<Durability> {
    this.#pending = null;
    const file = this.#path();
    if (file === null) return { kind: "volatile" };
    try {
      await writeSavedState(file, current(), { boot: this.#bootClock, heard: this.#heard() });
      return { kind: "durable" };
    } catch (error) {
      this.#log.error({ err: error, file }, "state file not written");
      return { kind: "failed", problem: errorMessage(error) };
    }
  }
}
