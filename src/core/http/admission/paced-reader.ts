import type { Socket } from "node:net";
import type { ConnectionLimiter } from "../access/connection-limiter.ts";
import type { CheckTurns, PausedConnection } from "./check-turns.ts";
import type { ReadingTurns, WaitingReader } from "./reading-turns.ts";

/** node:http gets so many requests of a connection at a time. */
const requestsAtOnce = 8;
/** And so many bytes: a body may come in chunks of one byte, and each chunk has a cost of its own. */
const bytesAtOnce = 4 * 1024;
const endOfHead = Buffer.from("\r\n\r\n");

/** What node:http listens to on a socket. */
type SocketEventListener = (...parts: readonly unknown[]) => void;

export interface PacedReaderContext {
  readonly limiter: Pick<ConnectionLimiter, "beginBurst" | "endBurst">;
  /** The turns of those that send many requests at once. */
  readonly turns: ReadingTurns;
  /** Bounds how long all connections are answered in one turn of the event loop. */
  readonly checkTurns: CheckTurns;
  /** Called when the connections of the process have sent too much in advance. The connection is closed then. */
  readonly onOverflow: (socket: Socket) => void;
  /** Called with what node:http threw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Stands between a socket and node:http, which reads a whole chunk at once: 64 kB hold thousands of requests, or of
 * pieces of a body, so a few connections could keep the event loop busy for seconds. A small chunk with one request
 * goes on at once. What else it holds goes on in pieces of a few requests and a few kB, when it is the connection's
 * turn (`ReadingTurns`). The socket is paused meanwhile. Pieces end behind what looks like the end of a head. That is
 * no more than a guess, and need not be: a stream may be cut anywhere.
 */
export class PacedReader implements WaitingReader, PausedConnection {
  readonly #socket: Socket;
  readonly #context: PacedReaderContext;
  readonly #pauseSocket: () => void;
  readonly #resumeSocket: () => Socket;
  readonly #data: readonly SocketEventListener[];
  readonly #end: readonly SocketEventListener[];
  #held: Buffer = Buffer.alloc(0);
  /** node:http wants no more for now: its client does not read. */
  #isPaused = false;
  /** What comes from the socket. `stopped` is final: node:http gets nothing more. */
  #input: "open" | "ended" | "stopped" = "open";

  /** @param socket one that node:http listens to, of which it has read nothing */
  constructor(socket: Socket, context: PacedReaderContext) {
    this.#socket = socket;
    this.#context = context;
    this.#data = takeListeners(socket, "data");
    this.#end = takeListeners(socket, "end");
    this.#pauseSocket = socket.pause.bind(socket);
    this.#resumeSocket = socket.resume.bind(socket);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("end", () => this.#onEnd());
    socket.once("close", () => this.stop());
    socket.pause = () => this.#pause();
    socket.resume = () => this.#continue();
  }

  readOn(): boolean {
    if (this.#isPaused || this.#held.length === 0) return false;
    const length = Math.min(endOfHeads(this.#held, requestsAtOnce), bytesAtOnce);
    const piece = this.#held.subarray(0, length);
    this.#held = this.#held.subarray(length);
    this.#context.turns.release(length);
    this.#pass(piece);
    if (this.#input === "stopped") return false;
    if (this.#held.length > 0) return !this.#isPaused;
    this.#context.limiter.endBurst(this.#socket);
    if (!this.#isPaused) this.#resumeSocket();
    if (this.#input === "ended") this.#endSoon();
    return false;
  }

  /** Drops what node:http has not got yet, and gives it nothing more. */
  stop(): void {
    if (this.#input === "stopped") return;
    this.#input = "stopped";
    this.#context.turns.release(this.#held.length);
    this.#context.turns.remove(this);
    this.#context.checkTurns.remove(this);
    this.#held = Buffer.alloc(0);
  }

  /** Reads from the socket again, after a turn of the event loop that was too long. */
  resume(): void {
    if (this.#held.length === 0 && !this.#isPaused && this.#input !== "stopped") this.#resumeSocket();
  }

  #pause(): Socket {
    this.#isPaused = true;
    this.#pauseSocket();
    return this.#socket;
  }

  #continue(): Socket {
    this.#isPaused = false;
    if (this.#held.length === 0) return this.#resumeSocket();
    this.#context.turns.add(this);
    return this.#socket;
  }

  #onData(chunk: Buffer): void {
    if (this.#input === "stopped") return;
    const isWaiting = this.#held.length > 0;
    if (!isWaiting && chunk.length <= bytesAtOnce && endOfHeads(chunk, 1) === chunk.length) {
      this.#pass(chunk);
      if (this.#context.checkTurns.count()) this.#waitForTurn();
      return;
    }
    if (!this.#context.turns.hold(chunk.length)) {
      this.#context.onOverflow(this.#socket);
      this.#socket.destroy();
      return;
    }
    if (!isWaiting) this.#context.limiter.beginBurst(this.#socket);
    this.#held = isWaiting ? Buffer.concat([this.#held, chunk]) : chunk;
    this.#pauseSocket();
    this.#context.turns.add(this);
  }

  #waitForTurn(): void {
    if (this.#input !== "open") return;
    this.#pauseSocket();
    this.#context.checkTurns.add(this);
  }

  #onEnd(): void {
    if (this.#input === "open") this.#input = "ended";
    if (this.#held.length === 0) this.#endSoon();
  }

  /** What refuses an unreadable request answers it in the next turn: node:http would end the connection before. */
  #endSoon(): void {
    setImmediate(() => {
      if (this.#input !== "stopped") this.#tell(this.#end, []);
    });
  }

  #pass(bytes: Buffer): void {
    this.#tell(this.#data, [bytes]);
    if (this.#socket.destroyed) this.stop();
  }

  #tell(listeners: readonly SocketEventListener[], parts: readonly unknown[]): void {
    try {
      for (const listener of listeners) Reflect.apply(listener, this.#socket, parts);
    } catch (error) {
      this.#context.onError(error);
      this.#socket.destroy();
    }
  }
}

/** @returns the length of the part of `bytes` that has at most `count` ends of heads */
function endOfHeads(bytes: Buffer, count: number): number {
  let length = 0;
  for (let heads = 0; heads < count; heads += 1) {
    const at = bytes.indexOf(endOfHead, length);
    if (at === -1) return bytes.length;
    length = at + endOfHead.length;
  }
  return length;
}

function takeListeners(socket: Socket, event: "data" | "end"): readonly SocketEventListener[] {
  const listeners = socket.rawListeners(event);
  socket.removeAllListeners(event);
  return listeners.map(
    (listener) =>
      (...parts) =>
        void Reflect.apply(listener, socket, parts),
  );
}
