/** Connections to databases of 127.0.0.1: for one statement, or for many. Nothing here throws or waits for ever. */
import { connect, type Socket } from "node:net";
import { startup, terminate, WireReader, type Reading } from "./wire.ts";

/** The outcome of one statement. Instants are of the monotonic clock, in ms. */
export interface Outcome {
  readonly startedAt: number;
  readonly endedAt: number;
  /** The columns of its first row; `undefined` if it failed. */
  readonly row: readonly (string | null)[] | undefined;
  /** Why it failed: an SQLSTATE, `closed` or `late`. */
  readonly failure: string | undefined;
}

/**
 * Sends one statement on a new connection, start and end of the session in the same piece: the cheapest way.
 * @param port the database's, or that of a balancer's pool
 * @param statement the message that `query` of wire.ts makes
 */
export function once(port: number, statement: Buffer, deadlineMs: number): Promise<Outcome> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const reader = new WireReader();
    const finish = (row: Outcome["row"], failure: string | undefined): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve({ startedAt, endedAt: performance.now(), row, failure }); // no effect if it was resolved before
    };
    const deadline = setTimeout(() => finish(undefined, "late"), deadlineMs);
    socket.on("error", () => {}); // "close" follows
    socket.on("close", () => finish(undefined, "closed"));
    socket.on("data", (piece: Buffer) => {
      const reading = read(reader, piece);
      if (reading.error !== undefined) finish(undefined, reading.error);
      else if (reading.completed > 0) finish(reading.row, undefined);
    });
    socket.write(Buffer.concat([startup, statement, terminate]));
  });
}

/** A connection for many statements, one at a time. */
export class Session {
  readonly #socket: Socket;
  readonly #reader = new WireReader();
  #answer: ((outcome: Pick<Outcome, "row" | "failure">) => void) | undefined;
  #closedAt: number | undefined;

  private constructor(port: number) {
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
    this.#socket.on("error", () => {}); // "close" follows
    this.#socket.on("close", () => {
      this.#closedAt ??= performance.now();
      this.#settle({ row: undefined, failure: "closed" });
    });
    this.#socket.on("data", (piece: Buffer) => this.#read(piece));
    this.#socket.write(startup);
  }

  /** Opens one. `undefined` if no server accepts it within the deadline. */
  static async open(port: number, deadlineMs: number): Promise<Session | undefined> {
    const session = new Session(port);
    const { failure } = await session.#reply(deadlineMs);
    if (failure === undefined) return session;
    session.close();
    return undefined;
  }

  /** When it was closed by the other side; `undefined` while it is open. */
  get closedAt(): number | undefined {
    return this.#closedAt;
  }

  /** Sends a statement and waits for its outcome. A late answer closes the session. */
  async ask(statement: Buffer, deadlineMs: number): Promise<Outcome> {
    const startedAt = performance.now();
    this.#reader.clear();
    if (this.#closedAt === undefined) this.#socket.write(statement);
    const { row, failure } = await this.#reply(deadlineMs);
    return { startedAt, endedAt: performance.now(), row, failure };
  }

  close(): void {
    this.#closedAt ??= performance.now();
    this.#socket.destroy();
  }

  #reply(deadlineMs: number): Promise<Pick<Outcome, "row" | "failure">> {
    if (this.#closedAt !== undefined) return Promise.resolve({ row: undefined, failure: "closed" });
    return new Promise((resolve) => {
      const deadline = setTimeout(() => {
        this.#settle({ row: undefined, failure: "late" });
        this.close();
      }, deadlineMs);
      this.#answer = (outcome) => {
        clearTimeout(deadline);
        resolve(outcome);
      };
    });
  }

  #settle(outcome: Pick<Outcome, "row" | "failure">): void {
    this.#answer?.(outcome);
    this.#answer = undefined;
  }

  #read(piece: Buffer): void {
    const { error, isIdle, row } = read(this.#reader, piece);
    if (isIdle) this.#settle(error === undefined ? { row, failure: undefined } : { row: undefined, failure: error });
  }
}

/** What is not of the protocol counts as an error of the server. */
function read(reader: WireReader, piece: Buffer): Reading {
  try {
    return reader.push(piece);
  } catch {
    return { row: [], error: "protocol", completed: 0, isIdle: false };
  }
}
