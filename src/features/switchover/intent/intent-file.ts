import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { readRegularFileLater } from "../../../core/files/regular-file.ts";
import { replaceFile } from "../../../core/state/files/atomic-file.ts";
import { inTime, late } from "../../../core/state/files/in-time.ts";
import { pauseName, type PauseTarget } from "../machine/plan.ts";
import {
  type LoweredSetting,
  parseIntents,
  type PauseIntent,
  withLowered,
  withoutTarget,
  withTargets,
  type WrittenIntents,
  writtenIntents,
} from "./pause-intent.ts";

/** What an earlier process left: what it may have paused, or why that cannot be known. */
export type LeftIntents =
  | { readonly kind: "known"; readonly intents: readonly PauseIntent[] }
  | { readonly kind: "unreadable"; readonly problem: string };

/** How long one read or write may take, in ms: a file system that hangs must not hold clients. */
const limitMs = 2_000;
/** The largest file, in bytes: larger than that of the most targets. */
const bytesMax = 32 * 1024 * 1024;

/**
 * The file that says what this process may have paused. It is synced to the disk, with its folder, before anything is
 * paused, so that the next process can resume what it names. Changes are written one after the other.
 */
export class IntentFile {
  readonly #path: () => string | null;
  #written: WrittenIntents = { intents: [], lowered: [] };
  #last: Promise<unknown> = Promise.resolve();

  /** @param path where it is, now: a reload may move it; `null`: nowhere, so nothing may be paused */
  constructor(path: () => string | null) {
    this.#path = path;
  }

  /** Where it is now; `null`: nowhere. */
  get path(): string | null {
    return this.#path();
  }

  /** The intents that are not over. */
  get open(): readonly PauseIntent[] {
    return this.#written.intents;
  }

  /** The settings of poolers that this process, or an earlier one, may have lowered. */
  get lowered(): readonly LoweredSetting[] {
    return this.#written.lowered;
  }

  /** Reads what an earlier process left, and keeps it until its targets are closed. To be called once, first. */
  async read(): Promise<LeftIntents> {
    const { path } = this;
    if (path === null) return { kind: "known", intents: [] };
    try {
      const written = parseIntents(await promptly(readRegularFileLater(path, bytesMax)));
      if (written === undefined) return unreadable(path, "its content must be a list of intents of format 1, 2 or 3");
      this.#written = written;
      return { kind: "known", intents: written.intents };
    } catch (error) {
      const isAbsent = error instanceof Error && "code" in error && error.code === "ENOENT";
      if (isAbsent) return { kind: "known", intents: [] };
      return unreadable(path, errorMessage(error));
    }
  }

  /**
   * Adds an intent.
   * @param lowered the settings that the run lowers before RESUME
   * @throws Error if it is not on the disk after {@link limitMs}: then nothing may be paused
   */
  announce(intent: PauseIntent, lowered: readonly LoweredSetting[] = []): Promise<void> {
    return this.#change((written) => ({
      intents: [...written.intents, intent],
      lowered: withLowered(written.lowered, lowered),
    }));
  }

  /** Adds settings that are lowered without a run. @throws Error as {@link announce} */
  lower(lowered: readonly LoweredSetting[]): Promise<void> {
    return this.#change((written) => ({ ...written, lowered: withLowered(written.lowered, lowered) }));
  }

  /** The settings of these poolers are back. @throws Error as {@link close} */
  async restored(poolers: readonly string[]): Promise<void> {
    const areBack = ({ pooler }: LoweredSetting): boolean => poolers.includes(pooler);
    if (!this.lowered.some(areBack)) return;
    await this.#change((written) => ({ ...written, lowered: written.lowered.filter((one) => !areBack(one)) }));
  }

  /**
   * Notes that the switchover of a run may be requested from now on.
   * @param deadlineWallMs when everything is resumed at the latest, in ms since the epoch
   * @throws Error as {@link announce}
   */
  request(run: string, deadlineWallMs: number): Promise<void> {
    return this.#changeIntents((intents) =>
      intents.map((intent) =>
        intent.run === run && intent.finish !== null
          ? { ...intent, deadlineWallMs, finish: { ...intent.finish, mayBeRequested: true } }
          : intent,
      ),
    );
  }

  /**
   * Notes that clients wait after a loss, so that the next process can say since when.
   * @param sinceWallMs in ms since the epoch
   * @param held whose clients wait: another target is not resumed by somebody else if it is not paused
   * @throws Error as {@link announce}
   */
  held(run: string, sinceWallMs: number, held: readonly PauseTarget[]): Promise<void> {
    const names = new Set(held.map(pauseName));
    return this.#changeIntents((intents) =>
      intents.map((intent) =>
        intent.run === run && intent.finish !== null
          ? {
              ...intent,
              finish: { ...intent.finish, heldSinceWallMs: intent.finish.heldSinceWallMs ?? sinceWallMs },
              targets: intent.targets.map((target) =>
                names.has(pauseName(target)) ? { ...target, isHeld: true } : target,
              ),
            }
          : intent,
      ),
    );
  }

  /**
   * Removes a target whose RESUME is verified.
   * @param run only of this run; `null`: of all, because what is not paused is paused by none of them
   * @throws Error if that is not on the disk after {@link limitMs}
   */
  close(target: PauseTarget, run: string | null = null): Promise<void> {
    return this.#changeIntents((intents) => withoutTarget(intents, target, run));
  }

  /** Keeps only these targets of a run, or nothing of it. @throws Error as {@link close} */
  async retain(run: string, targets: readonly PauseTarget[]): Promise<void> {
    // An intent that is being written is known after that.
    await this.#last;
    const isKnown = this.open.some((intent) => intent.run === run);
    if (isKnown) await this.#changeIntents((intents) => withTargets(intents, run, targets));
  }

  #changeIntents(change: (intents: readonly PauseIntent[]) => readonly PauseIntent[]): Promise<void> {
    return this.#change((written) => ({ ...written, intents: change(written.intents) }));
  }

  #change(change: (written: WrittenIntents) => WrittenIntents): Promise<void> {
    const writing = this.#write(this.#last, change);
    // Also one that takes too long is waited for before the next: it must not overtake that.
    this.#last = writing.catch(() => {});
    return promptly(writing);
  }

  async #write(before: Promise<unknown>, change: (written: WrittenIntents) => WrittenIntents): Promise<void> {
    await before;
    const written = change(this.#written);
    const { path } = this;
    if (path === null) throw new Error("state_file must be set, because nothing may be paused without it");
    await replaceFile(path, writtenIntents(written));
    this.#written = written;
  }
}

function unreadable(file: string, why: string): LeftIntents {
  return { kind: "unreadable", problem: `Cannot read ${file}: ${why}` };
}

/** Waits for the file system, for {@link limitMs} at most. @throws its error, or an Error if it takes longer */
async function promptly<Value>(promise: Promise<Value>): Promise<Value> {
  const value = await inTime(promise, limitMs);
  if (value === late) throw new Error(`the file system did not answer within ${limitMs} ms`);
  return value;
}
