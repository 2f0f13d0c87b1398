import { setTimeout as pause } from "node:timers/promises";
import { type ConsoleTarget, PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readConfig } from "../../../core/balancing/pgbouncer/documents.ts";
import { readSupply, supplyOf } from "./supply.ts";

/** The value while clients go on: 3 attempts a second. 0 would be thousands, and numbers with a point need quotes. */
const quickS = "0.1";
const quicken = `SET server_login_retry = '${quickS}'`;
/** How long the first server after RESUME is waited for before the old value comes back, in ms. */
const restoreMs = 3_000;
/** Between two looks at the servers, in ms. */
const lookMs = 100;
/** Between two attempts to set the old value back, and how long they go on, in ms. */
const againMs = 500;
const attemptsMs = 60_000;

/** A database of a pooler whose login retry is lowered, and how its console is reached. */
interface RetryTarget {
  readonly pooler: string;
  readonly console: ConsoleTarget;
}

/**
 * One for each pooler of a run.
 * @param beforeOf the value before the run; `undefined`: it is read when it is needed
 * @param shared as in {@link LoginRetryContext}
 */
export function loginRetries(
  targets: readonly RetryTarget[],
  beforeOf: (pooler: string) => string | null | undefined,
  shared: Pick<LoginRetryContext, "limitMs" | "signal">,
): ReadonlyMap<string, LoginRetry> {
  return new Map(
    targets.map(({ pooler, console }) => [pooler, new LoginRetry({ console, before: beforeOf(pooler), ...shared })]),
  );
}

/** What a login retry depends on. */
export interface LoginRetryContext {
  readonly console: ConsoleTarget;
  /** The value before the run, as {@link readLoginRetry} read it; `undefined`: it is read when it is needed. */
  readonly before: string | null | undefined;
  /** For a console to be opened, and of each command, in ms. */
  readonly limitMs: number;
  /** Once it is aborted, nothing is waited for: the old value is set back in one attempt. Default: it never is. */
  readonly signal?: AbortSignal;
}

/**
 * Reads the value that has to come back after a RESUME.
 * @returns `null` if nothing is to be changed: it is low already, or PgBouncer does not say it
 * @throws ConsoleError
 */
export async function readLoginRetry(console: PgbouncerConsole, limitMs: number): Promise<string | null> {
  const shown = await shownRetry(console, limitMs);
  return shown !== null && /^\d{1,10}(\.\d{1,6})?$/.test(shown) && Number(shown) > Number(quickS) ? shown : null;
}

/**
 * `server_login_retry` of one PgBouncer around the RESUMEs of a run. PAUSE aborts a login that runs and counts it as failed,
 * and then no client goes on for that time (15 s by default), so it is low until each database has a server. None of its
 * methods rejects: where the value cannot be changed, clients may wait longer, and RESUME reports what is wrong.
 */
export class LoginRetry {
  readonly #context: LoginRetryContext;
  #before: string | null | undefined;
  /** The databases without a server, and until when each is waited for, in ms of the monotonic clock. */
  readonly #waiting = new Map<string, number>();
  /** Whether this process has sent the low value, and not seen the old one come back. */
  #isChanged = false;
  /** The attempts to set the old value back; `null` while none go on. */
  #restoring: Promise<boolean> | null = null;

  constructor(context: LoginRetryContext) {
    this.#context = context;
    this.#before = context.before;
  }

  /** The value that has to come back; `null`: none, or it is not known. */
  get before(): string | null {
    return this.#before ?? null;
  }

  /** Reads the value, unless it is known. To be called before anything is changed. @throws ConsoleError */
  async read(console: PgbouncerConsole): Promise<void> {
    if (this.#before === undefined) this.#before = await readLoginRetry(console, this.#context.limitMs);
  }

  /**
   * Lowers the value, until the database has a server, or for a while. To be called after the last RELOAD, which undoes every
   * SET, and right before RESUME. Resolves when the value is set.
   */
  async quicken(database: string): Promise<void> {
    const { console: target, limitMs } = this.#context;
    if (this.#before === null) return;
    try {
      const console = await PgbouncerConsole.open(target, limitMs);
      try {
        await this.read(console);
        if (this.before === null) return;
        this.#isChanged = true;
        this.#waiting.set(database, performance.now() + restoreMs);
        await console.query(quicken, limitMs);
      } finally {
        console.close();
      }
      this.#restoring ??= this.#restoreLater();
    } catch {
      // RESUME reports what is wrong with the console. What was sent may have arrived.
      if (this.#isChanged) this.#restoring ??= this.#restoreLater();
    }
  }

  /**
   * Resolves when the old value is back, and says so; `false` if that could not be seen within a minute, or before the end of
   * this process.
   * @param mayBeChanged whether another process may have lowered it for this run
   */
  async restored(mayBeChanged: boolean): Promise<boolean> {
    if (this.#restoring !== null) return this.#restoring;
    if (this.before === null || !(mayBeChanged || this.#isChanged)) return true;
    return this.#restore();
  }

  /**
   * Waits until each database has a server. Until then the low value is set again if it was lost: another rolecall that
   * routes the same PgBouncer may send its RELOAD just now.
   */
  async #restoreLater(): Promise<boolean> {
    const { console: target, limitMs } = this.#context;
    try {
      const console = await PgbouncerConsole.open(target, limitMs);
      try {
        while (this.#waiting.size > 0) {
          await this.#wait(lookMs);
          if (this.#isEnding) {
            this.#waiting.clear();
            break;
          }
          const shown = await readSupply(console, limitMs);
          for (const [database, untilMs] of this.#waiting)
            if (supplyOf(database, shown).servers > 0 || performance.now() >= untilMs) this.#waiting.delete(database);
          if (this.#waiting.size > 0 && (await shownRetry(console, limitMs)) === this.before)
            await console.query(quicken, limitMs);
        }
      } finally {
        console.close();
      }
    } catch {
      // The value comes back all the same, as soon as the console answers.
      this.#waiting.clear();
    }
    const isRestored = await this.#restore();
    // Another database of the same pooler may be resumed later.
    if (this.#waiting.size > 0) return this.#restoreLater();
    this.#restoring = null;
    if (isRestored) this.#isChanged = false;
    return isRestored;
  }

  /** Sets the old value back if the low one is there: a PgBouncer that was restarted has its configured one. */
  async #restore(): Promise<boolean> {
    const { console: target, limitMs } = this.#context;
    const { before } = this;
    const untilMs = performance.now() + attemptsMs;
    do {
      try {
        const console = await PgbouncerConsole.open(target, limitMs);
        try {
          if (before !== null && (await shownRetry(console, limitMs)) === quickS)
            await console.query(`SET server_login_retry = '${before}'`, limitMs);
          return true;
        } finally {
          console.close();
        }
      } catch {
        await this.#wait(againMs);
      }
    } while (performance.now() < untilMs && !this.#isEnding);
    return false;
  }

  get #isEnding(): boolean {
    return this.#context.signal?.aborted === true;
  }

  /** Waits, until the signal is aborted at most. */
  #wait(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.#context.signal }).catch(() => {});
  }
}

async function shownRetry(console: PgbouncerConsole, limitMs: number): Promise<string | null> {
  return readConfig(await console.query("SHOW CONFIG", limitMs)).get("server_login_retry") ?? null;
}
