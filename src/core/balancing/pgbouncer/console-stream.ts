import { connect as connectSocket, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { secretProblem } from "../../cluster/values/secret-destination.ts";
import { formatHostPort } from "../../config/values/address.ts";
import type { TlsMaterial } from "../../config/tls-material.ts";
import { type PoolerAddress, socketOf } from "../../config/values/pooler-address.ts";
import { ConsoleError } from "./console-error.ts";
import { consoleWords, MessageGuard, type ServerWords } from "./message-guard.ts";

/** The request for TLS of PostgreSQL's protocol: its length, and a number that is no version. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** The size of a chunk after which more of a large answer is likely to wait, in bytes. */
const largeChunk = 8 * 1024;

/**
 * The connection to a console, or to another server of PostgreSQL's protocol, as `pg` wants it. What the server sends passes a guard before `pg` reads it. It makes TLS
 * itself, because `pg` would read what comes over TLS without the guard. Ends with a ConsoleError.
 */
export class ConsoleStream extends Duplex {
  /** Limits what the server may send. */
  readonly guard: MessageGuard;
  readonly #words: ServerWords;
  #socket: Socket | null = null;

  constructor(words: ServerWords = consoleWords) {
    super();
    this.#words = words;
    this.guard = new MessageGuard(words);
  }

  /** Connects. @throws ConsoleError, and what the error of the socket or of TLS is */
  async open(address: PoolerAddress, tls: TlsMaterial | null): Promise<void> {
    if (this.destroyed) throw new ConsoleError("lost", "the connection was closed");
    const target = "host" in address ? address : { path: socketOf(address) };
    const socket = connectSocket({ ...target, noDelay: true });
    this.#socket = socket;
    await happens(socket, "connect");
    this.guard.isPrivate = mayLogInClear(address, tls !== null);
    const secured =
      tls === null || !("host" in address)
        ? socket
        : await secure(socket, { host: address.host, tls, words: this.#words });
    this.#socket = secured;
    secured.on("data", (chunk: Buffer) => this.#receive(chunk));
    secured.on("error", (error) => this.destroy(error));
    secured.on("close", () => this.destroy(new ConsoleError("lost", "the connection was closed")));
  }

  /** `pg` calls this: the connection exists already. */
  connect(): this {
    process.nextTick(() => this.emit("connect"));
    return this;
  }

  /** `pg` calls this: the socket has it. */
  setNoDelay(): this {
    return this;
  }

  /** An exception of a listener, which is in `pg`, ends the connection and not the process. */
  override emit(event: string | symbol, ...args: readonly unknown[]): boolean {
    if (event !== "data") return super.emit(event, ...args);
    try {
      return super.emit(event, ...args);
    } catch {
      this.destroy(new ConsoleError("unusable", "the server sent what cannot be read"));
      return true;
    }
  }

  /** Goes on in the next turn of the event loop: libuv would read 2 MB of a large answer in this one. */
  override _read(): void {
    setImmediate(() => this.#socket?.resume());
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#socket === null) done(new ConsoleError("lost", "there is no connection"));
    else this.#socket.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket?.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket?.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    if (this.destroyed) return;
    try {
      const messages = this.guard.take(chunk);
      if (messages.length === 0) return;
      const isLarge = chunk.length >= largeChunk;
      if (!this.push(messages) || isLarge) this.#socket?.pause();
    } catch (error) {
      this.destroy(error instanceof Error ? error : undefined);
    }
  }
}

/** Whether a server there may ask for the password itself, and not only for a proof that it is known. */
export function mayLogInClear(address: PoolerAddress, hasTls: boolean): boolean {
  // A Unix socket is on this machine. The zone of an address says through which interface it is reached.
  const { host, port } = "host" in address ? address : { host: "localhost", port: address.port };
  const place = formatHostPort({ host: host.replace(/%.*$/, ""), port });
  const to = { address: `${hasTls ? "https" : "http"}://${place}`, word: "configured" } as const;
  return secretProblem("console_password", to) === null;
}

/** Asks for TLS and makes it. */
async function secure(
  socket: Socket,
  { host, tls, words }: { readonly host: string; readonly tls: TlsMaterial; readonly words: ServerWords },
): Promise<Socket> {
  socket.write(tlsRequest);
  const answer = await firstBytes(socket);
  // Bytes after the answer were not encrypted: they are from somebody else (CVE-2021-23222).
  if (answer.length !== 1 || answer[0] !== "S".charCodeAt(0)) throw new ConsoleError("unusable", words.noTls);
  const secured = connectTls({ socket, host, ...tls });
  await happens(secured, "secureConnect");
  return secured;
}

function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      resolve(chunk);
    });
    rejectAtEnd(socket, reject);
  });
}

function happens(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    rejectAtEnd(socket, reject);
  });
}

function rejectAtEnd(socket: Socket, reject: (error: Error) => void): void {
  socket.on("error", reject);
  socket.once("close", () => reject(new ConsoleError("lost", "the connection was closed")));
}
