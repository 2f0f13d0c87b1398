import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { RawTcpConnection } from "./raw-tcp-connection.ts";
import type { ConnectionLimiter } from "../access/connection-limiter.ts";
import type { CachedResponses } from "../message/handler.ts";
import { renderedTimeout } from "../message/http1-serializer.ts";
import { simpleHeadMax } from "../message/simple-request-parser.ts";
import { type Handle, peerOf, interceptConnections } from "./tcp-handle.ts";

/**
 * Whether a door lets anybody in without a look, so that its lane may be used: no TLS, no locks, and the time limits that the lane's own
 * sweeps keep.
 */
export function canUseFastPath({ tls, auth, allow, limits }: ListenerAccess): boolean {
  const hasOwnTimes =
    limits.headerTimeoutMs !== sweepsUnasked * sweepMs || limits.idleTimeoutMs !== sweepsIdle * sweepMs;
  return tls === null && auth === null && allow === null && !hasOwnTimes;
}

/** How often idle connections are looked for, in ms. */
const sweepMs = 5_000;
/** A connection that has asked nothing yet is given up after so many sweeps, one that has asked after so many. */
const sweepsUnasked = 2;
const sweepsIdle = 24;

/** What the lane is wired to. */
export interface FastPathContext {
  /** The answers in force; while it gives `null` every connection goes the ordinary way at once. */
  readonly cached: () => CachedResponses | null;
  readonly limiter: ConnectionLimiter;
  /** Called with what threw on a connection, which is closed for it. */
  readonly onError: (error: unknown) => void;
}

/**
 * The fast lane: answers a chunk that is exactly one simple request (request-head.ts) straight from rendered bytes. At the first
 * chunk that is anything else, the connection goes over to node:http for good, the unread chunk put back in front: it reads
 * it as if nothing had been before.
 */
export class FastPath {
  readonly #context: FastPathContext;
  readonly #passengers = new Set<FastConnection>();
  readonly #sweeper: NodeJS.Timeout;
  /** What is to be put back in front of the connection that is given to node:http now. */
  #unread: Buffer | null = null;
  #giveBack: (handle: Handle) => void = () => {};
  #sweep = 0;

  constructor(context: FastPathContext) {
    this.#context = context;
    this.#sweeper = setInterval(() => this.#sweepIdle(), sweepMs).unref();
  }

  /** Takes the new connections of a server that listens; it keeps those that the lane cannot have. */
  open(server: Server): void {
    this.#giveBack = interceptConnections(server, (handle) => this.#admit(handle)) ?? this.#giveBack;
    server.prependListener("connection", (socket: Socket) => {
      try {
        if (this.#unread !== null) socket.unshift(this.#unread);
      } catch (error) {
        this.report(error);
        socket.destroy();
      }
    });
  }

  /** Ends every connection in the lane. None has an answer under way: each is written at once. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const connection of this.#passengers) connection.close();
  }

  /** Finds the answer to a chunk. */
  find(text: string): ReturnType<CachedResponses["find"]> {
    return this.#context.cached()?.find(text) ?? null;
  }

  get sweep(): number {
    return this.#sweep;
  }

  /** Hands a connection over to node:http, with what it has to read first. */
  fallBack(connection: FastConnection, unread: Buffer | null): void {
    this.#unread = unread;
    try {
      connection.releaseHandle(this.#giveBack);
    } finally {
      this.#unread = null;
    }
  }

  /** What a connection threw is reported; it never throws itself, as Node is its caller. */
  report(error: unknown): void {
    try {
      this.#context.onError(error);
    } catch {
      // What cannot even be reported must not end the process either.
    }
  }

  leave(connection: FastConnection): void {
    this.#passengers.delete(connection);
    this.#context.limiter.release(connection.address);
  }

  /** Node calls this for each connection: where it throws, the connection goes the ordinary way. */
  #admit(handle: Handle): boolean {
    try {
      return this.#take(handle);
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  #take(handle: Handle): boolean {
    if (this.#context.cached() === null) return false;
    const address = this.#context.limiter.acquire(peerOf(handle));
    if (address === null) return false; // is refused as it is in the ordinary lane
    const connection = new FastConnection(this, handle, address);
    this.#passengers.add(connection);
    try {
      connection.start();
    } catch (error) {
      connection.fail(error);
    }
    return true;
  }

  /** As node:http does: a connection that never asks gets a 408, one that asks no more is closed. */
  #sweepIdle(): void {
    this.#sweep += 1;
    for (const connection of this.#passengers) {
      if (this.#sweep - connection.sweep <= (connection.hasAsked ? sweepsIdle : sweepsUnasked)) continue;
      connection.expire();
    }
  }
}

/** One connection in the lane. */
class FastConnection extends RawTcpConnection {
  readonly address: string;
  /** The sweep in which it last asked, or came. */
  sweep: number;
  hasAsked = false;
  readonly #fastPath: FastPath;

  constructor(fastPath: FastPath, handle: Handle, address: string) {
    super(handle);
    this.#fastPath = fastPath;
    this.address = address;
    this.sweep = fastPath.sweep;
  }

  protected read(buffer: Buffer, length: number): void {
    const answer = length > simpleHeadMax ? null : this.#fastPath.find(buffer.toString("latin1", 0, length));
    if (answer === null) {
      this.#fastPath.fallBack(this, Buffer.from(buffer.subarray(0, length)));
      return;
    }
    this.sweep = this.#fastPath.sweep;
    this.hasAsked = true;
    if (answer.keepsConnection) this.#keep(answer.bytes);
    else this.end(answer.bytes);
  }

  /** Gives it up, with a 408 where it has asked nothing yet. */
  expire(): void {
    try {
      if (!this.hasAsked) this.write(renderedTimeout);
      this.close();
    } catch (error) {
      this.fail(error);
    }
  }

  protected onClosed(): void {
    this.#fastPath.leave(this);
  }

  protected failed(error: unknown): void {
    this.#fastPath.report(error);
  }

  #keep(bytes: Buffer): void {
    const written = this.write(bytes);
    if (written === "sent") this.enableKeepAlive();
    else if (written === "lost") this.close();
    else this.#fastPath.fallBack(this, null); // who asks without reading is slowed down by node:http
  }
}
