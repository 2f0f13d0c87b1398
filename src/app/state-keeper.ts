import type { CancelTimer, SetTimer } from "../core/cluster/timer.ts";
import type { StateOverview } from "../core/http/diagnostics/config-overview.ts";
import type { Logger } from "../core/log/logger.ts";
import type { FileLock } from "../core/state/files/file-lock.ts";
import { inTime, late } from "../core/state/files/in-time.ts";
import { stateFileIn, type StateHome, stateLockOf } from "./state-home.ts";

/** How often the locks are confirmed, in ms: a third of what the lock of another machine may be old. */
const confirmMs = 10_000;
/** How long one lock may take, in ms. */
const lockMaxMs = 2_000;
/**
 * After so many confirmations a process of another container still holds the lock, so it confirms it: before, it may be
 * one that was killed.
 */
const unknownHolderMax = 4;

/** What a state keeper depends on. */
export interface StateKeeperContext {
  readonly log: Logger;
  readonly home: StateHome;
  readonly setTimer: SetTimer;
}

/** The lock of a configured state file. */
type ConfiguredFile =
  | { readonly kind: "none" }
  | { readonly kind: "held"; readonly file: string; readonly lock: FileLock }
  /** Another process has it. `confirmations`: how often it had it. */
  | {
      readonly kind: "shared";
      readonly file: string;
      readonly lock: FileLock;
      readonly holder: string;
      readonly confirmations: number;
    };

/**
 * Knows where the state of this process is kept, and who else writes there. The state file that the system gave is
 * this process's alone. A configured one is used whoever else uses it, and it is said.
 */
export class StateKeeper {
  readonly #context: StateKeeperContext;
  #configured: ConfiguredFile = { kind: "none" };
  /** The last problem of a lock that was held, so that each one is logged once. */
  #lost: string | null = null;
  #cancel: CancelTimer | null = null;
  #isClosed = false;

  constructor(context: StateKeeperContext) {
    this.#context = context;
  }

  /**
   * Says at the start where state is kept, and confirms the locks from now on.
   * @param history the directory of the history in force
   */
  announce(file: string | null, history: string | null): void {
    const { log, home } = this.#context;
    const { from, problem } = this.describe(file, history);
    if (file !== null) log.info({ file, history, from }, "state is kept");
    else if (home.kind === "none" && home.isFault) log.warn({ problem, history }, "no state is kept across restarts");
    else log.info({ problem, history }, "no state is kept across restarts");
    this.#tickLater();
  }

  /** Takes the lock of the state file in force, where the configuration names it. */
  async follow(file: string | null): Promise<void> {
    const { home } = this.#context;
    const isHome = home.kind === "kept" && file === stateFileIn(home.directory);
    const before = this.#configured;
    const wanted = isHome ? null : file;
    if (this.#isClosed || (before.kind === "none" ? wanted === null : before.file === wanted)) return;
    this.#configured = { kind: "none" };
    if (before.kind === "held") await bounded(before.lock.release());
    if (wanted !== null) await this.#take(wanted, stateLockOf(wanted), 0);
  }

  /**
   * Describes where state is kept.
   * @param file the state file in force
   * @param history the directory of the history in force
   */
  describe(file: string | null, history: string | null): StateOverview {
    const { home } = this.#context;
    if (file === null) {
      const problem = home.kind === "none" ? home.problem : "state_file is null";
      return { file, history, from: null, problem };
    }
    const isHome = home.kind === "kept" && file === stateFileIn(home.directory);
    return { file, history, from: isHome ? home.from : "configuration", problem: this.#problem };
  }

  /** Gives the locks back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    const { home } = this.#context;
    const own = this.#configured.kind === "held" ? [this.#configured.lock] : [];
    const locks = home.kind === "kept" ? [home.lock, ...own] : own;
    await Promise.all(locks.map((lock) => bounded(lock.release())));
  }

  get #problem(): string | null {
    const configured = this.#configured;
    if (configured.kind === "shared" && isSaid(configured)) return sharedText(configured.holder);
    return this.#lost;
  }

  #tickLater(): void {
    if (this.#isClosed) return;
    this.#cancel = this.#context.setTimer(() => {
      void this.#confirm().finally(() => this.#tickLater());
    }, confirmMs);
  }

  async #confirm(): Promise<void> {
    const { home } = this.#context;
    const configured = this.#configured;
    const held = configured.kind === "held" ? [configured.lock] : [];
    for (const lock of home.kind === "kept" ? [home.lock, ...held] : held) await this.#confirmHeld(lock);
    if (configured.kind === "shared") await this.#take(configured.file, configured.lock, configured.confirmations + 1);
  }

  /** A process that slept for long, or whose disk hung, may have lost its lock to another one. */
  async #confirmHeld(lock: FileLock): Promise<void> {
    const tried = async (): Promise<string | null> => ((await lock.confirm()) ? null : lock.acquire());
    // What cannot be read or written now is no loss: the state file says the same of itself.
    const holder = await bounded(tried().catch(() => null));
    const lost = holder === null || holder === late ? null : sharedText(holder);
    if (lost !== null && lost !== this.#lost) this.#context.log.error({ problem: lost }, "state file not ours alone");
    this.#lost = lost;
  }

  async #take(file: string, lock: FileLock, confirmations: number): Promise<void> {
    const { log } = this.#context;
    const before = this.#configured;
    const holder = await bounded(lock.acquire().catch(() => null));
    if (this.#isClosed) {
      if (holder === null) await bounded(lock.release());
      return;
    }
    if (holder === null || holder === late) {
      this.#configured = { kind: "held", file, lock };
      if (before.kind === "shared" && isSaid(before)) log.info({ file }, "state file used by this process alone");
      return;
    }
    const shared = { kind: "shared", file, lock, holder, confirmations } as const;
    const wasSaid = before.kind === "shared" && isSaid(before);
    this.#configured = shared;
    if (isSaid(shared) && !wasSaid)
      log.warn({ file, problem: sharedText(holder) }, "state file used by two processes: the last one to write wins");
  }
}

/** A process of this machine is known to run. Another one may have been killed before it could give the lock back. */
function isSaid({ holder, confirmations }: Extract<ConfiguredFile, { readonly kind: "shared" }>): boolean {
  return /^(?:process \d|this process)/.test(holder) || confirmations >= unknownHolderMax;
}

function sharedText(holder: string): string {
  return `it must be used by one process, got ${holder} that uses it too`;
}

function bounded<Value>(promise: Promise<Value>): Promise<Value | typeof late> {
  return inTime(promise, lockMaxMs);
}
