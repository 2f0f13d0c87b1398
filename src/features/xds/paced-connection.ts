import { Duplex } from "node:stream";
import type { ReadingTurns, WaitingReader } from "../../core/http/admission/reading-turns.ts";

/**
 * So many bytes of a connection go on at once: a request of an Envoy that opens a stream has some hundred, a reset 13. One
 * chunk of a socket holds hundreds of them, and node:http2 would open all of their streams in one turn.
 */
const bytesAtOnce = 512;

/** A connection as it was accepted. */
export interface AcceptedConnection extends Duplex {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Stands between a connection and node:http2, and lets through a little whenever it is the connection's turn. */
export class PacedConnection extends Duplex implements WaitingReader {
  /** The address and port of the client. */
  readonly peer: string;
  readonly #connection: AcceptedConnection;
  readonly #turns: ReadingTurns;
  #held: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #isWanted = false;

  constructor(connection: AcceptedConnection, turns: ReadingTurns) {
    super({ allowHalfOpen: true });
    this.#connection = connection;
    this.#turns = turns;
    const { remoteAddress = "unknown", remotePort = 0 } = connection;
    this.peer = `${remoteAddress.includes(":") ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
    connection.on("data", (chunk: Buffer) => this.#onData(chunk));
    connection.once("end", () => {
      this.#isEnded = true;
      this.#turns.add(this);
    });
    // Without a listener, an error would end the process. The end of the connection follows.
    connection.on("error", () => {});
    this.on("error", () => {});
    connection.once("close", () => this.destroy());
  }

  readOn(): boolean {
    if (this.destroyed || !this.#isWanted) return false;
    const piece = this.#held.subarray(0, bytesAtOnce);
    this.#held = this.#held.subarray(piece.length);
    this.#turns.release(piece.length);
    if (piece.length > 0) this.#isWanted = this.push(piece);
    if (this.#held.length > 0) return this.#isWanted;
    if (this.#isEnded) this.push(null);
    else this.#connection.resume();
    return false;
  }

  override _read(): void {
    this.#isWanted = true;
    if (this.#held.length > 0 || this.#isEnded) this.#turns.add(this);
    else this.#connection.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#connection.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#turns.release(this.#held.length);
    this.#turns.remove(this);
    this.#held = Buffer.alloc(0);
    this.#connection.destroy();
    done(error);
  }

  #onData(chunk: Buffer): void {
    if (this.destroyed) return;
    if (!this.#turns.hold(chunk.length)) {
      this.destroy();
      return;
    }
    this.#connection.pause();
    this.#held = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#turns.add(this);
  }
}
