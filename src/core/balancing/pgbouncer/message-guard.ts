import { ConsoleError } from "./console-error.ts";

/** How much one answer may have. */
export interface AnswerLimits {
  readonly bytes: number;
  readonly rows: number;
}

/** What is said of a server that is not what it should be. */
export interface ServerWords {
  /** It offers no TLS. */
  readonly noTls: string;
  /** It asks for the password where somebody could read it. */
  readonly clearPassword: string;
  /** What follows a message that it should not send. */
  readonly foreign: string;
}

/** Of the console of a PgBouncer. */
export const consoleWords: ServerWords = {
  noTls: "PgBouncer offers no TLS (client_tls_sslmode)",
  clearPassword: "PgBouncer asks for the password in clear: set tls, or another auth_type there",
  foreign: "is it the console of a PgBouncer?",
};

/** SHOW CLIENTS with some 50,000 clients. */
const consoleLimits: AnswerLimits = { bytes: 16 * 1024 * 1024, rows: 100_000 };
/** The most columns of a row. 1.24 sends at most 29. */
const columnsMax = 64;
/** The most bytes of one message. What is left of one is copied with each packet, so this bounds the work too. */
const messageMax = 64 * 1024;
/** Between answers PgBouncer sends at most a notice, and why it ends. */
const idleBytesMax = 64 * 1024;

/** The type of a message: one byte. */
const typeOf = (letter: string): number => letter.charCodeAt(0);
const errorType = typeOf("E");
const noticeType = typeOf("N");
const loginType = typeOf("R");
/** The login that wants the password as it is (AuthenticationCleartextPassword). */
const clearPassword = 3;
const rowType = typeOf("D");
const columnsType = typeOf("T");
/** What a console sends: authentication, parameters, the key of cancelling, readiness, rows, errors and notices. */
const known: ReadonlySet<number> = new Set(Buffer.from("RSKZTDCENI"));

const head = 5;

/**
 * Reads the messages of PostgreSQL's protocol (version 3) before `pg` does, whose parser trusts the server: it throws
 * where a message is shorter than it says, never ends at an error without its last byte, and has no limits.
 */
export class MessageGuard {
  /** Whether nobody on the way can read a password. */
  isPrivate = false;
  readonly #words: ServerWords;
  #pending: Buffer = Buffer.alloc(0);
  #bytesLeft = idleBytesMax;
  #rowsLeft = 0;

  constructor(words: ServerWords = consoleWords) {
    this.#words = words;
  }

  /** An answer may come from now on. */
  expectAnswer({ bytes, rows }: AnswerLimits = consoleLimits): void {
    this.#bytesLeft = bytes;
    this.#rowsLeft = rows;
  }

  /** The answer is complete. */
  expectNothing(): void {
    this.#bytesLeft = idleBytesMax;
    this.#rowsLeft = 0;
  }

  /**
   * @returns the messages that are complete now
   * @throws ConsoleError for what no console sends
   */
  take(chunk: Buffer): Buffer {
    this.#bytesLeft -= chunk.length;
    if (this.#bytesLeft < 0) throw new ConsoleError("unusable", "the answer is too large");
    try {
      return this.#complete(this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]));
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error;
      throw new ConsoleError("unusable", `the server sent ${error.message}: ${this.#words.foreign}`);
    }
  }

  #complete(bytes: Buffer): Buffer {
    let at = 0;
    while (at + head <= bytes.length) {
      const end = at + sizeOf(bytes.subarray(at, at + head));
      if (end > bytes.length) break;
      this.#check(bytes[at] ?? 0, bytes.subarray(at + head, end));
      at = end;
    }
    this.#pending = bytes.subarray(at);
    return bytes.subarray(0, at);
  }

  #check(type: number, body: Buffer): void {
    if (type === errorType || type === noticeType) requireFields(body);
    if (type === columnsType) requireColumns(body);
    if (type === loginType && !this.isPrivate && body.length >= 4 && body.readInt32BE(0) === clearPassword)
      throw new ConsoleError("refused", this.#words.clearPassword);
    if (type !== rowType) return;
    this.#rowsLeft -= 1;
    if (this.#rowsLeft < 0) throw new ConsoleError("unusable", "the answer has too many rows");
    requireValues(body);
  }
}

/** The size of a message, from its type and its length. */
function sizeOf(start: Buffer): number {
  const [type = 0] = start;
  if (!known.has(type)) throw unexpected("a message of another protocol");
  const size = 1 + start.readUInt32BE(1);
  if (size < head || size > messageMax) throw unexpected(`a message of ${size} bytes`);
  return size;
}

/** Texts of an error: each begins with its kind and ends with a zero, and a zero ends them all. */
function requireFields(body: Buffer): void {
  let at = 0;
  while (at < body.length - 1) {
    const end = body.indexOf(0, at + 1);
    if (body[at] === 0 || end < 0) throw unexpected("an error that is cut");
    at = end + 1;
  }
  if (body[at] !== 0) throw unexpected("an error that is cut");
}

/** Columns: a name that a zero ends, and 18 bytes. */
function requireColumns(body: Buffer): void {
  let at = 2;
  for (let left = countOf(body); left > 0; left -= 1) {
    const end = body.indexOf(0, at);
    if (end < 0) throw unexpected("columns that are cut");
    at = end + 1 + 18;
  }
  if (at !== body.length) throw unexpected("columns that are cut");
}

/** Values: a length and as many bytes, or the length -1 for null. */
function requireValues(body: Buffer): void {
  let at = 2;
  for (let left = countOf(body); left > 0; left -= 1) {
    const length = at + 4 <= body.length ? body.readInt32BE(at) : NaN;
    if (!(length >= -1)) throw unexpected("a row that is cut");
    at += 4 + Math.max(0, length);
  }
  if (at !== body.length) throw unexpected("a row that is cut");
}

function countOf(body: Buffer): number {
  const count = body.length < 2 ? NaN : body.readInt16BE(0);
  if (!(count >= 0 && count <= columnsMax)) throw unexpected(`a row with more than ${columnsMax} columns`);
  return count;
}

/** What a server sent that no server of the protocol sends. */
class Unexpected extends Error {}

function unexpected(what: string): Unexpected {
  return new Unexpected(what);
}
