import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { ConsoleError, refusalOf } from "../../../core/balancing/pgbouncer/console-error.ts";
import { type ConsoleTarget, PgbouncerConsole, quoteDatabase } from "../../../core/balancing/pgbouncer/console.ts";
import { readClients, readDatabases } from "../../../core/balancing/pgbouncer/documents.ts";
import { readPausing } from "../../../core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { inTime, late } from "../../../core/state/files/in-time.ts";
import { pauseConsoleName, type PausingRun, runsOf } from "./pause-console.ts";

/** What a run may have paused, and how its console is reached. */
export interface ResumableTarget {
  /** `null`: an operator wants it to be resumed, whoever has paused it. */
  readonly by: PausingRun | null;
  readonly database: string;
  readonly console: ConsoleTarget;
}

/**
 * What came of a RESUME.
 * - `resumed`: nothing is paused, and no PAUSE of the run can arrive any more
 * - `unsure`: that is not known, or a later run of the cluster may hold the clients, which this one must not let go
 */
export type Resumed =
  | { readonly kind: "resumed" }
  /** `isAbsent`: nobody takes connections at the console. */
  | { readonly kind: "unsure"; readonly problem: string; readonly isAbsent: boolean };

/** The share of the limit after which a second connection is tried. */
const firstShare = 0.4;

const leftProblem = "a console that sent PAUSE is still connected";

/** What is closed opens no console any more. */
type ResumerLife = { readonly kind: "open"; readonly console: PgbouncerConsole | null } | { readonly kind: "closed" };

/**
 * Resumes one database. Its console is opened before anything is paused: a PgBouncer whose clients wait may have no
 * connection left for another one.
 */
export class TargetResumer {
  readonly #target: ResumableTarget;
  readonly #limitMs: number;
  #life: ResumerLife = { kind: "open", console: null };
  #attempt: Promise<Resumed> | null = null;

  /** @param limitMs for each step with the console, in ms */
  constructor(target: ResumableTarget, limitMs: number) {
    this.#target = target;
    this.#limitMs = limitMs;
  }

  /** The open console; opens one if there is none. @param limitMs for that @throws ConsoleError */
  async console(limitMs: number = this.#limitMs): Promise<PgbouncerConsole> {
    const known = this.#consoleNow;
    if (known?.isOpen === true) return known;
    const opened = await openSoon(this.#target.console, limitMs);
    if (this.#life.kind === "closed") {
      opened.close();
      throw new ConsoleError("lost", "the console was closed");
    }
    this.#life = { kind: "open", console: opened };
    return opened;
  }

  /**
   * Sends RESUME, and reads back what became of it. To be repeated until it succeeds: a PAUSE that was sent and is late
   * may still arrive as long as its console is there. A call while another one runs shares its result. Never rejects.
   * @param before what is to be done first, once the console answers: after a cut, its RESUME must not overtake a change
   *   of the route that could not be made meanwhile. Must take a bounded time, and never reject
   * @param isOwn whether the PAUSE that holds the clients is known to be that of this run: a later run that has a console
   *   there has paused nothing then
   */
  resume(before: (() => Promise<void>) | null = null, isOwn = false): Promise<Resumed> {
    this.#attempt ??= this.#resume(before, isOwn).finally(() => {
      this.#attempt = null;
    });
    return this.#attempt;
  }

  close(): void {
    const console = this.#consoleNow;
    this.#life = { kind: "closed" };
    console?.close();
  }

  get #consoleNow(): PgbouncerConsole | null {
    return this.#life.kind === "open" ? this.#life.console : null;
  }

  async #resume(before: (() => Promise<void>) | null, isOwn: boolean): Promise<Resumed> {
    try {
      const console = await this.console();
      if (before !== null) {
        await console.query("SHOW VERSION", this.#limitMs);
        await before();
      }
      return await resumeOn(console, { ...this.#target, isOwn }, this.#limitMs);
    } catch (error) {
      return unsure(errorMessage(error), error instanceof ConsoleError && error.kind === "absent");
    }
  }
}

/**
 * Opens a console. TCP repeats the lost first packet of a connection after a second only: a second connection is tried
 * meanwhile, so that a console opens soon after a network that was cut is back.
 * @throws ConsoleError
 */
async function openSoon(target: ConsoleTarget, limitMs: number): Promise<PgbouncerConsole> {
  const firstMs = limitMs * firstShare;
  const first = PgbouncerConsole.open(target, limitMs);
  if (
    (await inTime(
      first.catch(() => null),
      firstMs,
    )) !== late
  )
    return first;
  const attempts = [first, PgbouncerConsole.open(target, limitMs - firstMs)];
  const opened = await Promise.any(attempts).catch(() => first);
  const close = (console: PgbouncerConsole): void => {
    if (console !== opened) console.close();
  };
  for (const attempt of attempts) void attempt.then(close, () => {});
  return opened;
}

/** Resumes one database once, on a console of its own. */
export async function resumeTarget(target: ResumableTarget, limitMs: number): Promise<Resumed> {
  const resumer = new TargetResumer(target, limitMs);
  try {
    return await resumer.resume();
  } finally {
    resumer.close();
  }
}

async function resumeOn(
  console: PgbouncerConsole,
  { by, database, isOwn }: Pick<ResumableTarget, "by" | "database"> & { readonly isOwn: boolean },
  limitMs: number,
): Promise<Resumed> {
  // Clients are listed before RESUME: after it, nothing that was not connected then can pause.
  const clients = readClients(await console.query("SHOW CLIENTS", limitMs));
  const names = clients.map(({ applicationName }) => applicationName);
  const isLeft = by !== null && names.includes(pauseConsoleName(by));
  const isPaused = async (): Promise<boolean> =>
    readDatabases(await console.query("SHOW DATABASES", limitMs)).some(
      (shown) => shown.name === database && shown.isPaused,
    );
  // A console alone is no PAUSE: what the later run finds paused it leaves alone, and closes its console.
  if (by !== null && !isOwn && runsOf(by.cluster, names).some(({ generation }) => generation > by.generation)) {
    if (await isPaused())
      return unsure("a later switchover of the cluster has a console there, and may hold its clients");
    return isLeft ? unsure(leftProblem) : { kind: "resumed" };
  }
  if (by === null) await resumeAllOf(console, limitMs);
  const refusal = await refusalOf(console.query(`RESUME ${quoteDatabase(database)}`, limitMs));
  // A database that is gone holds nobody: PgBouncer has closed its clients.
  if (await isPaused()) return unsure(refusal ?? "it is still paused");
  // Under a PAUSE without a database, RESUME of one says "not paused" while all clients are held.
  if ((await readPausing(console, limitMs)) === "held")
    return unsure("somebody has paused all databases of this PgBouncer");
  return isLeft ? unsure(leftProblem) : { kind: "resumed" };
}

/** Lifts a PAUSE or SUSPEND of all databases, if there is one. */
async function resumeAllOf(console: PgbouncerConsole, limitMs: number): Promise<void> {
  if ((await readPausing(console, limitMs)) === "held") await refusalOf(console.query("RESUME", limitMs));
}

function unsure(problem: string, isAbsent = false): Resumed {
  return { kind: "unsure", problem, isAbsent };
}
