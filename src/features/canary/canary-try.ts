import { spanText } from "../../core/health/wording.ts";
import { type CanaryError, type CanaryKind, ownCodes, type ReachedServer, type TryOutcome } from "./core/canary.ts";
import { CanaryFailure, errorOf } from "./canary-failure.ts";
import { CanarySession } from "./canary-session.ts";
import { beginSql, type CanaryRow, readSql, systemSql, waitingCommitSql, writeSql } from "./core/canary-table.ts";
import { waitTexts } from "./core/canary-text.ts";
import type { CanaryConfig } from "./config/canary-schema.ts";

/** What one try depends on. */
export interface TryContext {
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  /** Ends the try, at once. */
  readonly signal: AbortSignal;
  /** The row that a write canary writes. */
  readonly row: CanaryRow;
  /** The system identifier of the cluster's nodes; `null` while it is not known. */
  readonly expectedSystem: () => string | null;
}

/** What a try waits for. */
type Phase = keyof typeof waitTexts;

/** The SQLSTATE of a statement that has waited for a lock in vain. */
const lockTimeout = "55P03";
/** How long each step after a transaction that has failed may take, in ms. */
const rollbackMaxMs = 200;
/** The least limit of a statement on the server, in ms. */
const statementMinMs = 50;
/** The server ends a statement earlier than rolecall the try, so that it can say why. */
const [statementShare, lockShare] = [0.8, 0.6];

/**
 * Connects as a client does, writes or reads, and ends the connection. Never rejects, but for an internal error, and ends
 * within the timeout and one second.
 */
export async function tryCanary(config: CanaryConfig, kind: CanaryKind, context: TryContext): Promise<TryOutcome> {
  return new OneTry(config, kind, context).run();
}

class OneTry {
  readonly #config: CanaryConfig;
  readonly #kind: CanaryKind;
  readonly #context: TryContext;
  readonly #session: CanarySession;
  readonly #startMs: number;
  /** Rejects when the connection ends, the time is over, or the try is ended. */
  readonly #ended: Promise<never>;
  #end: (error: unknown) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #phase: Phase = "connect";
  #server: ReachedServer | null = null;
  #isInTransaction = false;
  #isLateHere = false;

  constructor(config: CanaryConfig, kind: CanaryKind, context: TryContext) {
    this.#config = config;
    this.#kind = kind;
    this.#context = context;
    this.#startMs = context.now();
    this.#ended = new Promise((_, reject) => (this.#end = reject));
    // It may end after the try.
    this.#ended.catch(() => {});
    this.#session = new CanarySession(config, (error) => this.#end(error));
  }

  async run(): Promise<TryOutcome> {
    const { signal } = this.#context;
    const abort = (): void => this.#end(new CanaryFailure(ownCodes.closed, "the try was ended"));
    signal.addEventListener("abort", abort, { once: true });
    this.#startTimer(this.#config.timeoutMs);
    try {
      if (signal.aborted) return { kind: "own_failure" };
      const ageMs = await this.#steps();
      return { kind: "passed", tookMs: this.#tookMs, server: this.#server ?? unknownServer, ageMs };
    } catch (error) {
      return await this.#failedBy(error);
    } finally {
      clearTimeout(this.#timer);
      signal.removeEventListener("abort", abort);
      if (signal.aborted) this.#session.destroy();
      else this.#session.end();
    }
  }

  /** @returns how old the row is that was read, in ms */
  async #steps(): Promise<number | null> {
    await this.#step("connect", () => this.#session.connect());
    await this.#step("login", () => this.#session.logIn());
    await this.#step("look", () => this.#look());
    const ageMs = this.#kind === "read" ? await this.#step("read", () => this.#read()) : null;
    if (this.#kind === "write") await this.#step("write", () => this.#write());
    await this.#step("commit", () => this.#commit());
    return ageMs;
  }

  #step<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    this.#phase = phase;
    return Promise.race([this.#ended, work()]);
  }

  async #look(): Promise<void> {
    const leftMs = this.#config.timeoutMs - (this.#context.now() - this.#startMs);
    const share = (part: number): number => Math.max(statementMinMs, Math.floor(leftMs * part));
    const limits = {
      statementMs: share(statementShare),
      lockMs: share(lockShare),
      idleMs: 2 * this.#config.timeoutMs,
    };
    this.#isInTransaction = true;
    const { rows } = await this.#session.query(beginSql(this.#kind === "read", limits));
    const { address = null, port = null, in_recovery: recovery, may_ask_system: mayAsk } = rows[0] ?? {};
    const reached = { address, port: port === null ? null : Number(port), isInRecovery: recovery === "t" };
    this.#server = { ...reached, system: null };
    if (mayAsk !== "t") return;
    const { rows: found } = await this.#session.query(systemSql);
    const system = found[0]?.["system"] ?? null;
    this.#server = { ...reached, system };
    const expected = this.#context.expectedSystem();
    if (system === null || expected === null || system === expected) return;
    throw new CanaryFailure(
      ownCodes.otherDatabase,
      `reached another database: its system identifier is ${system}, that of the cluster is ${expected}`,
    );
  }

  async #write(): Promise<void> {
    await this.#session.query(writeSql(this.#context.row, (text) => this.#session.quoted(text)));
  }

  async #read(): Promise<number | null> {
    const { rows } = await this.#session.query(readSql);
    const age = rows[0]?.["age_ms"] ?? null;
    return age === null ? null : Math.max(0, Number(age));
  }

  async #commit(): Promise<void> {
    const before = this.#session.warnings.length;
    const { command } = await this.#session.query("COMMIT");
    this.#isInTransaction = false;
    if (command !== "COMMIT") throw new CanaryFailure(ownCodes.protocol, `the server answers ${command} to COMMIT`);
    const warning = this.#session.warnings[before];
    // Committed here, but not where synchronous replication wants it.
    if (warning !== undefined && this.#kind === "write") throw new CanaryFailure(ownCodes.warned, warning);
  }

  /** Time in which this process did not look at its sockets is not the server's (rule 8). */
  #startTimer(limitMs: number, mayMove = true): void {
    const dueMs = this.#context.now() + limitMs;
    this.#timer = setTimeout(() => {
      const lateMs = this.#context.now() - dueMs;
      if (lateMs <= lateFromMs) return this.#end(new TimeIsOver());
      if (mayMove) return this.#startTimer(Math.min(lateMs, limitMs), false);
      this.#isLateHere = true;
      this.#end(new TimeIsOver());
    }, limitMs);
  }

  async #failedBy(thrown: unknown): Promise<TryOutcome> {
    const { signal } = this.#context;
    if (signal.aborted || this.#isLateHere) return { kind: "own_failure" };
    const tookMs = this.#tookMs;
    const error = this.#describe(thrown);
    if (error === null) return { kind: "own_failure" };
    const isAnswered = this.#isInTransaction && !(thrown instanceof TimeIsOver);
    return {
      kind: "failed",
      tookMs,
      server: this.#server,
      error: isAnswered ? await this.#afterRollback(error) : error,
    };
  }

  #describe(thrown: unknown): CanaryError | null {
    const phase = this.#phase;
    if (thrown instanceof TimeIsOver)
      return { code: ownCodes.timeout, message: lateText(phase, this.#kind, spanText(this.#config.timeoutMs)) };
    const error = errorOf(thrown);
    return error?.code === ownCodes.closed ? { ...error, message: closedTexts[phase] } : error;
  }

  /**
   * Ends the transaction: a pooler would close its connection to the server after a client that leaves one open. A lock on
   * the row is held by an earlier try whose commit still waits, and the server says for what.
   */
  async #afterRollback(error: CanaryError): Promise<CanaryError> {
    if ((await within(rollbackMaxMs, this.#session.query("ROLLBACK"))) === null) return error;
    if (error.code !== lockTimeout) return error;
    const answer = await within(rollbackMaxMs, this.#session.query(waitingCommitSql));
    const waitsMs = answer?.rows[0]?.["waits_ms"] ?? null;
    if (waitsMs === null) return error;
    const message = `the commit of an earlier write waits for ${spanText(Number(waitsMs))} for a synchronous standby (SyncRep)`;
    return { code: ownCodes.timeout, message };
  }

  get #tookMs(): number {
    return Math.max(0, Math.round(this.#context.now() - this.#startMs));
  }
}

/** The time limit of a try is over. */
class TimeIsOver extends Error {}

/** A timer that fires so much later than it should says that this process was late, in ms. */
const lateFromMs = 50;

/** Before PostgreSQL has said who it is. */
const unknownServer: ReachedServer = { address: null, port: null, isInRecovery: false, system: null };

function lateText(phase: Phase, kind: CanaryKind, limit: string): string {
  return phase === "commit" && kind === "write"
    ? `the write was accepted, but its commit is not answered within ${limit}, as where it waits for a synchronous standby`
    : `${waitTexts[phase]} within ${limit}`;
}

/** What was under way when the connection was closed without an error. */
const closedTexts: Readonly<Record<Phase, string>> = {
  connect: "the connection was closed as it was made",
  login: "the connection was closed before the login, as a balancer without a usable server does",
  look: "the connection was closed before the answer to the first query",
  write: "the connection was closed before the answer to the write",
  read: "the connection was closed before the answer to the read",
  commit: "the connection was closed before the answer to the commit",
};

/** Waits for something, for a time at most. @returns `null` if it has failed, or takes longer */
function within<T>(limitMs: number, work: Promise<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const settle = (value: T | null): void => {
      clearTimeout(timer);
      resolve(value);
    };
    const timer = setTimeout(() => settle(null), limitMs);
    work.then(settle, () => settle(null));
  });
}
