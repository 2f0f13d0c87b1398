import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import type { PgbouncerConfig } from "../../config/model/config.ts";
import { firstLine } from "../../config/access-material.ts";
import { readTls } from "../../config/tls-material.ts";
import { socketProblem } from "../socket-problem.ts";
import { ConsoleError } from "./console-error.ts";
import { ConsoleStream } from "./console-stream.ts";

/** One row of an answer: each column as text, or `null`. */
export type ConsoleRow = Readonly<Record<string, string | null>>;

/** How a console is reached, and as whom. */
export type ConsoleTarget = Omit<PgbouncerConfig, "processes">;

/** The message that ends a connection of PostgreSQL's protocol. */
const terminate = Buffer.from([0x58, 0, 0, 0, 4]);

/**
 * One connection to the console of a PgBouncer: its virtual database `pgbouncer`, in the simple query protocol. Each
 * step has a limit. After one that failed with anything but `refused` the connection is closed: an answer that comes
 * later would be taken for that of the next command.
 */
export class PgbouncerConsole {
  /** Its `application_name`: SHOW CLIENTS lists it. */
  readonly name: string;
  /** Resolves when the connection has ended, for whatever reason. */
  readonly ended: Promise<void>;
  readonly #stream: ConsoleStream;
  /** What waits for an answer, and fails when the connection ends. */
  readonly #waiting = new Set<(failure: ConsoleError) => void>();
  #client: Client | null = null;
  /** The command that runs, if any: commands follow each other. */
  #last: Promise<unknown> = Promise.resolve();
  #failure: ConsoleError | null = null;

  /** Loads the package that consoles need, so that the first one opens sooner. */
  static async load(): Promise<void> {
    await import("pg");
  }

  /**
   * Connects and logs in. Reads the password and the TLS files.
   * @param limitMs for all of it
   * @param options `name`: its `application_name`; without it one that no other console has. `signal`: closes it, at once
   * @throws ConsoleError
   */
  static async open(
    target: ConsoleTarget,
    limitMs: number,
    { name = uniqueName(), signal }: { readonly name?: string; readonly signal?: AbortSignal } = {},
  ): Promise<PgbouncerConsole> {
    const opened = new PgbouncerConsole(name);
    const close = (): void => opened.close();
    signal?.addEventListener("abort", close);
    void opened.ended.then(() => signal?.removeEventListener("abort", close));
    await opened.#limited(limitMs, () => opened.#logIn(target));
    return opened;
  }

  private constructor(name: string) {
    this.name = name;
    const stream = new ConsoleStream();
    this.#stream = stream;
    this.ended = new Promise((resolve) => {
      stream.once("close", () => {
        const failure = (this.#failure ??= new ConsoleError("lost", "the connection was closed"));
        for (const reject of this.#waiting) reject(failure);
        resolve();
      });
    });
    stream.on("error", (error) => (this.#failure ??= this.#failureOf(error)));
  }

  /** Whether it has not ended yet. */
  get isOpen(): boolean {
    return this.#failure === null;
  }

  /**
   * Runs one command, after those that were given before.
   * @param limitMs until the whole answer is there, in ms from now
   * @returns the rows of the answer; none for a command that changes something
   * @throws ConsoleError
   */
  async query(command: string, limitMs: number): Promise<readonly ConsoleRow[]> {
    const before = this.#last;
    const answer = this.#limited(limitMs, async () => {
      await before;
      return this.#run(command);
    });
    this.#last = answer.catch(() => {});
    return answer;
  }

  /**
   * Ends it at once. A command that was sent keeps its effect: a PAUSE that waits goes on holding the clients. One that
   * another console's RESUME ended never gets an answer (measured with 1.18 and 1.24).
   */
  close(): void {
    if (this.#client !== null && this.isOpen) this.#stream.write(terminate);
    this.#fail(new ConsoleError("lost", "the console was closed"));
  }

  async #logIn({ address, user, passwordFile, tls }: ConsoleTarget): Promise<void> {
    const [{ Client: PgClient }, material] = [await import("pg"), tls === null ? null : readTls(tls)];
    await this.#stream.open(address, material);
    const client = new PgClient({
      // The stream is connected. `pg` must not look for another host, name, password or TLS in the environment.
      host: "pgbouncer",
      port: address.port,
      user,
      password: () => requirePassword(user, passwordFile),
      database: "pgbouncer",
      application_name: this.name,
      ssl: false,
      stream: () => this.#stream,
      types: { getTypeParser: () => (text: string) => text },
    });
    client.on("error", (error: Error) => this.#fail(this.#failureOf(error)));
    await client.connect();
    this.#client = client;
  }

  async #run(command: string): Promise<readonly ConsoleRow[]> {
    if (this.#failure !== null || this.#client === null)
      throw this.#failure ?? new ConsoleError("lost", "not logged in");
    const { guard } = this.#stream;
    guard.expectAnswer();
    // `pg` makes the rows as they come: SHOW CLIENTS of 20,000 clients must not block other work at its end.
    const result = await this.#client.query<ConsoleRow>(command).finally(() => guard.expectNothing());
    if (!Array.isArray(result.rows)) throw new ConsoleError("unusable", "the server sent more than one answer");
    return result.rows;
  }

  /** Runs a step. What fails or is late ends the connection, unless PgBouncer itself answered with an error. */
  async #limited<T>(limitMs: number, step: () => Promise<T>): Promise<T> {
    const late = new ConsoleError("late", `no complete answer within ${limitMs} ms`);
    const timer = setTimeout(() => this.#fail(late), limitMs);
    let end: ((failure: ConsoleError) => void) | null = null;
    try {
      return await new Promise<T>((resolve, reject) => {
        end = reject;
        this.#waiting.add(end);
        step().then(resolve, reject);
      });
    } catch (error) {
      const failure = this.#failure ?? this.#failureOf(error);
      if (failure.kind !== "refused" || this.#client === null) this.#fail(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
      if (end !== null) this.#waiting.delete(end);
    }
  }

  #fail(failure: ConsoleError): void {
    this.#failure ??= failure;
    this.#stream.destroy();
  }

  #failureOf(error: unknown): ConsoleError {
    if (error instanceof ConsoleError) return error;
    if (!(error instanceof Error)) return new ConsoleError("lost", String(error));
    // An error of PgBouncer has a severity. FATAL ends the connection, and refuses a login.
    const severity = "severity" in error ? error.severity : undefined;
    if (severity !== undefined)
      return new ConsoleError(this.#client === null || severity === "ERROR" ? "refused" : "lost", error.message);
    // A file that is missing has the same codes as a socket.
    const { syscall, code }: NodeJS.ErrnoException = error;
    if (syscall !== "connect") return new ConsoleError("lost", error.message);
    const isAbsent = code === "ECONNREFUSED" || code === "ENOENT";
    return new ConsoleError(isAbsent ? "absent" : "lost", socketProblem(error) ?? error.message);
  }
}

/**
 * A database as commands name it: PAUSE, RESUME, RECONNECT, KILL. Without quotes the console takes ASCII letters, digits
 * and `_`, and keeps the case. With quotes it takes everything, but at most 63 bytes with the quotes: no name that needs
 * quotes and has 62 or 63 bytes can be named (measured with 1.18 and 1.24).
 */
export function quoteDatabase(name: string): string {
  if (/^\w+$/.test(name)) return name;
  return `"${name.replaceAll('"', '""')}"`;
}

function uniqueName(): string {
  return `rolecall ${randomBytes(6).toString("hex")}`;
}

function requirePassword(user: string, file: string | null): string {
  if (file === null) throw new ConsoleError("refused", `PgBouncer asks for the password of ${user}: set password_file`);
  return firstLine(file);
}
