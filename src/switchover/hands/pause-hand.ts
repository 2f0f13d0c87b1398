import { errorMessage } from "../../cluster/values/error-message.ts";
import { PgbouncerConsole, quoteDatabase } from "../../push/pgbouncer/console.ts";
import { readDatabases, readPools } from "../../push/pgbouncer/documents.ts";
import { readPausing } from "../../push/pgbouncer/inspect-pgbouncer.ts";
import { pauseConsoleName, type ResumableTarget, TargetResumer } from "./resume-target.ts";

/** What happens to one database of a pooler. */
export type PauseEvent =
  | { readonly kind: "pause_answered" | "console_lost" | "restarted" | "resumed" }
  | { readonly kind: "pause_failed" | "pause_withheld"; readonly problem: string }
  | { readonly kind: "paused_read"; readonly isPaused: boolean };

/** What a hand depends on. */
export interface PauseHandContext {
  readonly target: ResumableTarget;
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
  readonly now: () => number;
  readonly onEvent: (event: PauseEvent) => void;
}

/**
 * How far a hand is.
 * - `idle`: nothing was sent
 * - `sent`: PAUSE may have been sent
 * - `resuming`: RESUME is sent until its effect is seen
 * - `over`: nothing is paused by this hand any more
 */
type Phase = "idle" | "sent" | "resuming" | "over";

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
  /** When PAUSE was sent, and when its RESUME was verified, in ms of rolecall's clock. */
  #heldSinceMs: number | null = null;
  #heldUntilMs: number | null = null;

  constructor(context: PauseHandContext) {
    this.#context = context;
    this.#resumer = new TargetResumer(context.target, context.limits.commandMs);
    this.#database = context.target.database;
  }

  /** For how long clients have been held, or were held, in ms; `null` if they never were. */
  get heldMs(): number | null {
    if (this.#heldSinceMs === null) return null;
    return (this.#heldUntilMs ?? this.#context.now()) - this.#heldSinceMs;
  }

  /** Opens the console that RESUME will be sent on. @returns why that is impossible; `null` if it is open */
  async prepare(): Promise<string | null> {
    try {
      const console = await this.#resumer.console();
      void this.#watch(console);
      return null;
    } catch (error) {
      return errorMessage(error);
    }
  }

  /** Sends PAUSE, unless somebody else has paused the database. */
  pause(): void {
    void this.#pause();
  }

  /** Reads whether clients are held: the database is paused, and no transaction runs. Waits for the latter. */
  readPaused(): void {
    void this.#readPaused();
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
    const { limits, target, mayPause, now } = this.#context;
    const problem = await this.#problemBeforePause();
    if (problem !== null) return this.#withhold(problem);
    try {
      this.#pauseConsole = await PgbouncerConsole.open(target.console, limits.commandMs, pauseConsoleName(target.run));
    } catch (error) {
      return this.#withhold(errorMessage(error));
    }
    if (!mayPause() || this.#phase !== "idle") {
      this.#pauseConsole.close();
      return this.#withhold("it was too late");
    }
    this.#phase = "sent";
    this.#heldSinceMs = now();
    try {
      await this.#pauseConsole.query(`PAUSE ${quoteDatabase(this.#database)}`, limits.pauseMs);
      this.#tell({ kind: "pause_answered" });
    } catch (error) {
      this.#tell({ kind: "pause_failed", problem: errorMessage(error) });
    }
  }

  async #problemBeforePause(): Promise<string | null> {
    const { commandMs } = this.#context.limits;
    try {
      const console = await this.#resumer.console();
      const pausing = await readPausing(console, commandMs);
      if (pausing === "held") return "somebody has paused all databases of this PgBouncer";
      if (pausing === "not_admin") return "the user is not in admin_users";
      const shown = await this.#shown(console);
      if (shown === undefined) return "PgBouncer has no such database";
      return shown.isPaused ? "somebody else has paused it" : null;
    } catch (error) {
      return errorMessage(error);
    }
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
        if (!isBusy) return this.#tell({ kind: "paused_read", isPaused: true });
        await delay(pollMs);
      }
    } catch {
      // The connection is lost: `#watch` reports that.
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
    const problem = await this.#resumer.resume();
    if (problem !== null || this.#phase !== "resuming") return;
    this.#heldUntilMs = this.#context.now();
    this.close();
    this.#context.onEvent({ kind: "resumed" });
  }

  async #shown(console: PgbouncerConsole): Promise<ReturnType<typeof readDatabases>[number] | undefined> {
    const rows = await console.query("SHOW DATABASES", this.#context.limits.commandMs);
    return readDatabases(rows).find(({ name }) => name === this.#database);
  }

  /** Tells when the console is lost while clients are held, and what is found when it is back. */
  async #watch(console: PgbouncerConsole): Promise<void> {
    await console.ended;
    if (this.#phase !== "sent") return;
    this.#tell({ kind: "console_lost" });
    while (this.#phase === "sent") {
      try {
        const next = await this.#resumer.console();
        if ((await this.#shown(next))?.isPaused === true) void this.#watch(next);
        else this.#tell({ kind: "restarted" });
        return;
      } catch {
        await delay(this.#context.limits.pollMs);
      }
    }
  }

  /** After RESUME was sent nothing of PAUSE matters. */
  #tell(event: PauseEvent): void {
    if (this.#phase === "idle" || this.#phase === "sent") this.#context.onEvent(event);
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
