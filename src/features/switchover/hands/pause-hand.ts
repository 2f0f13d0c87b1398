import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { ConsoleError, refusalOf } from "../../../core/balancing/pgbouncer/console-error.ts";
import { PgbouncerConsole, quoteDatabase } from "../../../core/balancing/pgbouncer/console.ts";
import {
  readClients,
  readDatabases,
  readPools,
  readServers,
  type ShownPool,
} from "../../../core/balancing/pgbouncer/documents.ts";
import { readPausing } from "../../../core/balancing/pgbouncer/inspect-pgbouncer.ts";
import { isHoldDue, looksInRow, type PoolSight, sightOf } from "./unserved.ts";
import type { LoginRetry } from "./login-retry.ts";
import { isLater, pauseConsoleName, type PausingRun, runsOf, type SeenRun } from "./pause-console.ts";
import { type ResumableTarget, TargetResumer } from "./resume-target.ts";

/** What happens to one database of a pooler. */
export type PauseEvent =
  | {
      readonly kind: "pause_answered" | "console_lost" | "console_back" | "restarted" | "resumed" | "resumed_elsewhere";
    }
  | { readonly kind: "unserved" | "not_held" }
  | { readonly kind: "pause_failed" | "pause_withheld" | "console_refused"; readonly problem: string }
  | { readonly kind: "not_resumed"; readonly problem: string; readonly isRefused: boolean }
  | { readonly kind: "paused_read"; readonly isPaused: boolean };

/** What a hand depends on. */
export interface PauseHandContext {
  readonly target: ResumableTarget & { readonly by: PausingRun };
  /** `server_login_retry` of the pooler, which all hands of a run share. */
  readonly retry: LoginRetry;
  /** The console for RESUME, where it is open already. */
  readonly resumer?: TargetResumer;
  readonly limits: {
    /** Of each command but PAUSE, in ms. */
    readonly commandMs: number;
    /** Of PAUSE, in ms. */
    readonly pauseMs: number;
    /** Between two looks at a pooler that is read again, in ms. */
    readonly pollMs: number;
  };
  /**
   * Whether PAUSE may be sent now, by the present time: this process may have been stopped since the machine asked for
   * the PAUSE, and others may have resumed the database meanwhile.
   */
  readonly mayPause: () => boolean;
  /** Whether a console of an earlier run is no sign of another run: then somebody has promised that it is over. */
  readonly areEarlierOver: () => boolean;
  /** The last attempt to lead the database to the new primary, before its clients go on. Never rejects. */
  readonly lead: () => Promise<void>;
  readonly now: () => number;
  readonly onEvent: (event: PauseEvent) => void;
}

/**
 * How far a hand is.
 * - `idle`: nothing was sent
 * - `looking`: another process may have sent PAUSE, and the database is looked at: its clients are held once it refuses them
 * - `sent`: PAUSE may have been sent
 * - `resuming`: RESUME is sent until its effect is seen
 * - `over`: nothing is paused by this hand any more
 */
type Phase = "idle" | "looking" | "sent" | "resuming" | "over";

/** For how long after a look what is paused is known to be so by the PAUSE of the same hand, in ms. */
const ownMs = 1_000;

/** How long a run waits for another one to give up, before it is ready and before PAUSE, in ms. */
const patienceMs = { ready: 100, pause: 300 } as const;

/** How often a held database is looked at, in ms: somebody may send RESUME by hand. */
const lookMs = 250;

/**
 * Pauses one database of one PgBouncer and resumes it, on consoles of its own. PAUSE has a console that nothing else
 * uses, and that is closed before RESUME. None of its methods waits or throws: `onEvent` reports what happens.
 */
export class PauseHand {
  readonly #context: PauseHandContext;
  readonly #resumer: TargetResumer;
  readonly #database: string;
  #phase: Phase = "idle";
  #pauseConsole: PgbouncerConsole | null = null;
  #askedAtMs: number | null = null;
  /** When PAUSE was sent, and when clients were seen to go on, in ms of rolecall's clock. */
  #heldSinceMs: number | null = null;
  #heldUntilMs: number | null = null;
  /** When the PAUSE that this hand has sent was last seen to hold, in ms of rolecall's clock; `null`: it never was. */
  #ownSeenMs: number | null = null;
  /** Since when its console is lost, in ms of rolecall's clock: a PgBouncer that has died holds nobody. */
  #lostAtMs: number | null = null;
  /** The clients that were seen to wait last, while the database is held; `null` before the first look. */
  #waiting: number | null = null;
  /** Whether KILL comes before RESUME. */
  #cutsFirst = false;

  constructor(context: PauseHandContext) {
    this.#context = context;
    this.#resumer = context.resumer ?? new TargetResumer(context.target, context.limits.commandMs);
    this.#database = context.target.database;
  }

  /**
   * For how long clients have been held, or were held, in ms; `null` if they never were, or if another process has paused
   * them: when that began is not known.
   */
  get heldMs(): number | null {
    if (this.#heldSinceMs === null) return null;
    return (this.#heldUntilMs ?? this.#context.now()) - this.#heldSinceMs;
  }

  /** When {@link pause} was called, in ms of rolecall's clock; `null` before that. */
  get askedAtMs(): number | null {
    return this.#askedAtMs;
  }

  /** How many clients were seen to wait last; `null` if that is not known. */
  get waiting(): number | null {
    return this.#waiting;
  }

  /**
   * Opens the consoles that PAUSE and RESUME will be sent on. The first has the name of the run: of two runs that do this
   * at the same time at least one sees the other, whether they know each other or not.
   * @returns why the database cannot be paused by this run; `null` if it can
   */
  async prepare(): Promise<string | null> {
    try {
      // After a loss each answer that is waited for costs clients an error: what can be asked at the same time is.
      const [console, pauseConsole] = await Promise.all([this.#resumer.console(), this.#openPauseConsole()]);
      const [problem] = await Promise.all([this.#otherRun(console, "ready"), this.#context.retry.read(pauseConsole)]);
      if (problem !== null) return problem;
      void this.#watch(console);
      return null;
    } catch (error) {
      return errorMessage(error);
    }
  }

  /**
   * Goes on for a process that is gone.
   * @param left what that one has left: `held`: it has sent PAUSE; `watched`: it may have, and where it has not, the clients
   *   are held once they are refused; `over`: nothing is to be done
   */
  adopt(left: "held" | "watched" | "over"): void {
    if (left === "over") {
      this.#phase = "over";
    } else if (left === "held") {
      this.#phase = "sent";
      void this.#followAdopted();
    } else {
      this.#phase = "looking";
      void this.#followLooks();
    }
  }

  /** Sends PAUSE, unless somebody else has paused the database. */
  pause(): void {
    this.#askedAtMs = this.#context.now();
    void (this.#phase === "looking" ? this.#pauseAdopted() : this.#pause());
  }

  /** Reads whether clients are held: the database is paused, and no transaction runs. Waits for the latter. */
  readPaused(): void {
    void this.#readPaused();
  }

  /** Cuts the clients that wait, right before RESUME: they have no primary. */
  cutFirst(): void {
    this.#cutsFirst = true;
  }

  /** Sends RESUME once and reads it back. Without a PAUSE before it there is nothing to resume. */
  resume(): void {
    void this.#resume();
  }

  /** Closes its consoles. */
  close(): void {
    this.#phase = "over";
    this.#pauseConsole?.close();
    this.#resumer.close();
  }

  async #pause(): Promise<void> {
    const { limits, mayPause, now } = this.#context;
    const problem = await this.#problemBeforePause();
    if (problem !== null) return this.#withhold(problem);
    const console = this.#pauseConsole;
    if (console === null || !mayPause() || this.#phase !== "idle") {
      console?.close();
      return this.#withhold("it was too late");
    }
    this.#phase = "sent";
    this.#heldSinceMs = now();
    try {
      await console.query(`PAUSE ${quoteDatabase(this.#database)}`, limits.pauseMs);
      this.#ownSeenMs = now();
      this.#tell({ kind: "pause_answered" });
    } catch (error) {
      this.#tell({ kind: "pause_failed", problem: errorMessage(error) });
    }
  }

  /** As {@link #pause}, where another process has begun the run. It may be paused: then that holds its clients. */
  async #pauseAdopted(): Promise<void> {
    const { limits, mayPause, now } = this.#context;
    try {
      const console = await this.#resumer.console();
      const before = await this.#beforePause(console);
      if (before === "paused") return this.#holds(console);
      const problem = before ?? (await this.#otherRun(console, "pause"));
      if (problem !== null) return this.#tell({ kind: "pause_failed", problem });
      const pauseConsole = await this.#openPauseConsole();
      if (!mayPause() || this.#phase !== "looking") {
        pauseConsole.close();
        return this.#tell({ kind: "pause_failed", problem: "it was too late" });
      }
      this.#phase = "sent";
      this.#heldSinceMs = now();
      const refusal = await refusalOf(pauseConsole.query(`PAUSE ${quoteDatabase(this.#database)}`, limits.pauseMs));
      // Another process that finishes the run may have been faster.
      if (refusal === null || (await this.#shown(console))?.isPaused === true) this.#holds(console);
      else this.#tell({ kind: "pause_failed", problem: refusal });
    } catch (error) {
      this.#tell({ kind: "pause_failed", problem: errorMessage(error) });
    }
  }

  /** Opens the console for PAUSE, with the name of the run. @throws ConsoleError also if the hand was closed meanwhile */
  async #openPauseConsole(): Promise<PgbouncerConsole> {
    const { target, limits } = this.#context;
    const opened = await PgbouncerConsole.open(target.console, limits.commandMs, { name: pauseConsoleName(target.by) });
    if (this.#phase === "over") {
      opened.close();
      throw new ConsoleError("lost", "the console was closed");
    }
    this.#pauseConsole = opened;
    return opened;
  }

  #holds(console: PgbouncerConsole): void {
    if (this.#phase !== "looking" && this.#phase !== "sent") return;
    this.#phase = "sent";
    void this.#watch(console);
    this.#tell({ kind: "pause_answered" });
  }

  async #problemBeforePause(): Promise<string | null> {
    try {
      const console = await this.#resumer.console();
      const [before, other] = await Promise.all([
        this.#beforePause(console),
        this.#otherRun(this.#pauseConsole ?? console, "pause"),
      ]);
      return before === "paused" ? "somebody else has paused it" : (before ?? other);
    } catch (error) {
      return errorMessage(error);
    }
  }

  /** @returns `paused` if the database is, a text that says why it cannot be; `null` if it can @throws ConsoleError */
  async #beforePause(console: PgbouncerConsole): Promise<string | null> {
    const pausing = await readPausing(console, this.#context.limits.commandMs);
    if (pausing === "held") return "somebody has paused all databases of this PgBouncer";
    if (pausing === "not_admin") return "the user is not in admin_users";
    const shown = await this.#shown(console);
    if (shown === undefined) return "PgBouncer has no such database";
    return shown.isPaused ? "paused" : null;
  }

  /**
   * Another run of the cluster that may send PAUSE here; `null` if there is none, or none any more. Two that get ready at
   * the same time see each other: the later one waits until the earlier one has given up, so that not both do. One that is
   * ready waits longer, because the other one gives up.
   */
  async #otherRun(console: PgbouncerConsole, before: "ready" | "pause"): Promise<string | null> {
    const { target, limits, now } = this.#context;
    const sinceMs = now();
    for (;;) {
      const other = await this.#seenRun(console);
      if (other === null) return null;
      const isFirst = before === "ready" && !isLater(target.by, other);
      if (isFirst || now() - sinceMs >= patienceMs[before])
        return `another switchover of ${target.by.cluster} (${other.run}) has a console there to pause it`;
      await delay(limits.pollMs);
    }
  }

  async #seenRun(console: PgbouncerConsole): Promise<SeenRun | null> {
    const { target, limits, areEarlierOver } = this.#context;
    const { run, cluster, generation } = target.by;
    const clients = readClients(await console.query("SHOW CLIENTS", limits.commandMs));
    const names = clients.map(({ applicationName }) => applicationName);
    const others = runsOf(cluster, names).filter(
      (seen) => seen.run !== run && (seen.generation >= generation || !areEarlierOver()),
    );
    return others.find((seen) => !isLater(target.by, seen)) ?? others[0] ?? null;
  }

  #withhold(problem: string): void {
    if (this.#phase !== "idle") return;
    this.#tell({ kind: "pause_withheld", problem });
  }

  async #readPaused(): Promise<void> {
    const { pollMs, commandMs } = this.#context.limits;
    try {
      const console = await this.#resumer.console();
      // PgBouncer shows `paused` while PAUSE still waits for transactions.
      while (this.#phase === "sent") {
        const shown = await this.#shown(console);
        if (shown?.isPaused !== true) return this.#tell({ kind: "paused_read", isPaused: false });
        const pools = readPools(await console.query("SHOW POOLS", commandMs));
        const isBusy = pools.some(({ database, serversActive }) => database === this.#database && serversActive > 0);
        if (!isBusy) {
          this.#tell({ kind: "paused_read", isPaused: true });
          return await this.#lookForResume();
        }
        await delay(pollMs);
      }
    } catch {
      // The connection is lost: `#watch` reports that.
    }
  }

  /** Looks whether the clients are still held, as long as they should be. @throws ConsoleError */
  async #lookForResume(): Promise<void> {
    while (this.#phase === "sent") {
      await delay(lookMs);
      if (this.#phase !== "sent") return;
      const console = await this.#resumer.console();
      const shown = await this.#shown(console);
      if (this.#phase !== "sent") return;
      if (shown?.isPaused === true) {
        if (this.#ownSeenMs !== null) this.#ownSeenMs = this.#context.now();
        const pools = readPools(await console.query("SHOW POOLS", this.#context.limits.commandMs));
        this.#waiting = waitingOf(this.#database, pools);
        continue;
      }
      this.#heldUntilMs = this.#context.now();
      return this.#tell({ kind: "resumed_elsewhere" });
    }
  }

  async #followAdopted(): Promise<void> {
    try {
      const console = await this.#resumer.console();
      void this.#watch(console);
      await this.#lookForResume();
    } catch {
      if (this.#phase === "sent") await this.#awaitReturn();
    }
  }

  /** What another process has paused is held; all else is looked at until its clients are refused. */
  async #followLooks(): Promise<void> {
    const isPaused = await this.#firstSight();
    if (this.#phase !== "looking") return;
    if (isPaused) {
      this.#phase = "sent";
      return this.#followAdopted();
    }
    this.#tell({ kind: "not_held" });
    let inRow = 0;
    while (this.#phase === "looking") {
      const sight = await this.#sight();
      inRow = sight === "unserved" ? inRow + 1 : 0;
      if (isHoldDue("holding", sight, inRow)) this.#tell({ kind: "unserved" });
      await delay(inRow > 0 && inRow < looksInRow ? this.#context.limits.pollMs : lookMs);
    }
  }

  /** Whether the database is paused. Waits until the console says so. */
  async #firstSight(): Promise<boolean> {
    while (this.#phase === "looking") {
      try {
        return (await this.#shown(await this.#resumer.console()))?.isPaused === true;
      } catch {
        await delay(lookMs);
      }
    }
    return false;
  }

  /** A console that says nothing shows nobody who is refused. */
  async #sight(): Promise<PoolSight> {
    const { commandMs } = this.#context.limits;
    try {
      const console = await this.#resumer.console();
      const [servers, pools] = await Promise.all([
        console.query("SHOW SERVERS", commandMs),
        console.query("SHOW POOLS", commandMs),
      ]);
      const shown = { servers: readServers(servers), pools: readPools(pools) };
      this.#waiting = waitingOf(this.#database, shown.pools);
      return sightOf(this.#database, shown);
    } catch {
      return "idle";
    }
  }

  async #resume(): Promise<void> {
    if (this.#phase === "over") return;
    if (this.#phase === "idle") {
      this.close();
      return this.#context.onEvent({ kind: "resumed" });
    }
    this.#phase = "resuming";
    this.#pauseConsole?.close();
    const isOwn = this.#ownSeenMs !== null && this.#context.now() - this.#ownSeenMs <= ownMs;
    const done = await this.#resumer.resume(() => this.#beforeResume(), isOwn);
    if (this.#phase !== "resuming") return;
    if (done.kind === "unsure")
      return this.#context.onEvent({ kind: "not_resumed", problem: done.problem, isRefused: done.isAbsent });
    this.#heldUntilMs ??= this.#context.now();
    this.close();
    this.#context.onEvent({ kind: "resumed" });
  }

  /** A login that PAUSE has aborted counts as failed: if not quickened, clients wait for `server_login_retry` after RESUME. */
  async #beforeResume(): Promise<void> {
    const { retry, lead, limits } = this.#context;
    await lead();
    if (this.#cutsFirst) {
      this.#cutsFirst = false;
      const cut = this.#resumer
        .console()
        .then((console) => console.query(`KILL ${quoteDatabase(this.#database)}`, limits.commandMs));
      // RESUME lets them go on waiting, and reports what is wrong with the console.
      await cut.catch(() => {});
    }
    await retry.quicken(this.#database);
  }

  async #shown(console: PgbouncerConsole): Promise<ReturnType<typeof readDatabases>[number] | undefined> {
    const rows = await console.query("SHOW DATABASES", this.#context.limits.commandMs);
    return readDatabases(rows).find(({ name }) => name === this.#database);
  }

  /** Tells when the console is lost while clients are held, and what is found when it is back. */
  async #watch(console: PgbouncerConsole): Promise<void> {
    await console.ended;
    if (this.#phase !== "sent") return;
    this.#lostAtMs = this.#context.now();
    // Whatever is paused when it is back, somebody else may have paused.
    this.#ownSeenMs = null;
    this.#tell({ kind: "console_lost" });
    await this.#awaitReturn();
  }

  async #awaitReturn(): Promise<void> {
    let isToldAbsent = false;
    while (this.#phase === "sent") {
      try {
        const next = await this.#resumer.console();
        const shown = await this.#shown(next);
        if (shown?.isPaused !== true) {
          this.#heldUntilMs ??= this.#lostAtMs;
          return this.#tell({ kind: "restarted" });
        }
        this.#lostAtMs = null;
        this.#tell({ kind: "console_back" });
        void this.#watch(next);
        return await this.#lookForResume();
      } catch (error) {
        if (error instanceof ConsoleError && error.kind === "absent" && !isToldAbsent) {
          isToldAbsent = true;
          this.#tell({ kind: "console_refused", problem: error.message });
        }
        await delay(this.#context.limits.pollMs);
      }
    }
  }

  /** After RESUME was sent nothing of PAUSE matters. */
  #tell(event: PauseEvent): void {
    if (this.#phase !== "resuming" && this.#phase !== "over") this.#context.onEvent(event);
  }
}

function waitingOf(database: string, pools: readonly ShownPool[]): number {
  const own = pools.filter((pool) => pool.database === database);
  return own.reduce((sum, { clientsWaiting }) => sum + clientsWaiting, 0);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
