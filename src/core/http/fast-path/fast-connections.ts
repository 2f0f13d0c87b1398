import type { Server, Socket } from "node:net";
import type { ConnectionLimiter } from "../access/connection-limiter.ts";
import type { CheckTurns } from "../admission/check-turns.ts";
import type { CachedResponses } from "../message/handler.ts";
import { FastConnection, type FastConnectionHost } from "./fast-connection.ts";
import type { FastPathMonitor } from "./fast-path-monitor.ts";
import { type PassToServer, interceptConnections, peerOf } from "./intercept-connections.ts";
import { handleUnder, type TcpHandle } from "./node-internals.ts";
import type { TcpIo } from "./tcp-io.ts";

/** The time limits of a listener that connections on the fast path keep, in ms. */
export interface FastPathLimits {
  /** How long a new connection may take until its first request. */
  readonly headerTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How long a connection may wait for its next request. */
  readonly idleTimeoutMs: number;
}

export interface FastConnectionsContext {
  readonly io: TcpIo;
  readonly monitor: FastPathMonitor;
  readonly limits: FastPathLimits;
  /** Bounds how long the connections are answered in one turn of the event loop. */
  readonly turns: CheckTurns;
  readonly limiter: Pick<ConnectionLimiter, "acquire" | "release">;
  /** The responses in force; `null` while every connection must go to node:http. */
  readonly cached: () => CachedResponses | null;
  /** Whether connections of a peer must all go to node:http. */
  readonly leavesOut: (peer: string) => boolean;
  /** Called with the socket of each connection that falls back after requests of it were answered here. */
  readonly onContinued: (socket: Socket) => void;
  /** Called with what was thrown. */
  readonly onError: (error: unknown) => void;
}

/** Idle connections are looked for at least and at most this often, in ms. */
const sweepMinMs = 50;
const sweepMaxMs = 5_000;

/**
 * The connections of one listener that are on the fast path. A connection falls back by its handle: the server makes a
 * socket of it, and the bytes that the connection had read are put back in front of that socket, so node:http reads
 * them as if they had just arrived.
 */
export class FastConnections implements FastConnectionHost {
  readonly io: TcpIo;
  readonly monitor: FastPathMonitor;
  readonly turns: CheckTurns;
  readonly #context: FastConnectionsContext;
  readonly #connections = new Set<FastConnection>();
  /** What node:http reads first from handles that fall back, until it has a socket for them. */
  readonly #unread = new Map<unknown, Buffer>();
  #passToServer: PassToServer | null = null;
  #onEmptied: () => void = () => {};
  /** The connection that is falling back at the moment. */
  #falling: FastConnection | null = null;
  #sweeper: NodeJS.Timeout | null = null;
  #sweep = 0;
  #sweepsUntilRequest = Infinity;
  #sweepsUntilNext = Infinity;

  constructor(context: FastConnectionsContext) {
    this.#context = context;
    this.io = context.io;
    this.monitor = context.monitor;
    this.turns = context.turns;
  }

  get sweep(): number {
    return this.#sweep;
  }

  /**
   * Takes the connections that `server`, which listens, accepts from now on.
   * @returns `false` if it is no TCP server: then nothing has changed
   */
  attach(server: Server): boolean {
    this.#passToServer = interceptConnections(server, (handle) => this.#offer(handle));
    if (this.#passToServer === null) return false;
    server.prependListener("connection", (socket: Socket) => this.#putBack(socket));
    this.limitTo(this.#context.limits);
    return true;
  }

  /**
   * Keeps these time limits from now on. Connections that are open start to wait anew. A connection is closed when its
   * limit is over, at the latest half of the shorter limit (at most 5 s, at least 50 ms) after that.
   */
  limitTo({ headerTimeoutMs, requestTimeoutMs, idleTimeoutMs }: FastPathLimits): void {
    const firstMs = Math.min(headerTimeoutMs, requestTimeoutMs);
    const sweepMs = Math.max(sweepMinMs, Math.min(sweepMaxMs, Math.min(firstMs, idleTimeoutMs) / 2));
    this.#sweepsUntilRequest = Math.ceil(firstMs / sweepMs);
    this.#sweepsUntilNext = Math.ceil(idleTimeoutMs / sweepMs);
    for (const connection of this.#connections) connection.lastSweep = this.#sweep;
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = setInterval(() => this.#closeIdle(), sweepMs).unref();
  }

  /** Resolves when there is no connection. */
  async emptied(): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmptied = resolve;
    });
  }

  /** Closes every connection. None has an answer left to write: each is written at once. */
  close(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    for (const connection of this.#connections) connection.close();
  }

  cached(): CachedResponses | null {
    return this.monitor.isTripped ? null : this.#context.cached();
  }

  /** @throws Error if the server makes no socket of the connection */
  fallBack(connection: FastConnection, unread: Buffer | null): void {
    const passToServer = this.#passToServer;
    if (passToServer === null) throw new Error("Cannot fall back: the server must be attached");
    connection.releaseHandle((handle) => {
      if (unread !== null) this.#unread.set(handle, unread);
      this.#falling = connection;
      passToServer(handle);
      this.#falling = null;
      // The server emits "connection" before it returns. Else these bytes would be lost.
      if (this.#unread.delete(handle)) throw new Error("Cannot fall back: the server made no socket of the connection");
    });
  }

  onClosed(connection: FastConnection): void {
    this.#connections.delete(connection);
    this.#context.limiter.release(connection.address);
    if (this.#connections.size === 0) this.#onEmptied();
  }

  onError(error: unknown): void {
    this.monitor.trip(error);
    try {
      this.#context.onError(error);
    } catch {
      // Callbacks of libuv are the callers. A report that fails must not end the process.
    }
  }

  /** @returns whether the connection was taken. One that was not goes to node:http */
  #offer(handle: TcpHandle): boolean {
    let address: string | null = null;
    try {
      if (this.cached() === null) return false;
      const peer = peerOf(handle);
      if (this.#context.leavesOut(peer)) return false;
      address = this.#context.limiter.acquire(peer);
      if (address === null) return false; // node:http's connection is refused, logged and counted
      const connection = new FastConnection(handle, address, this);
      connection.start();
      this.#connections.add(connection);
      return true;
    } catch (error) {
      if (address !== null) this.#context.limiter.release(address);
      this.onError(error);
      return false;
    }
  }

  /** Puts back what a connection had read before it fell back. */
  #putBack(socket: Socket): void {
    try {
      if (this.#falling?.hasRequested === true) this.#context.onContinued(socket);
      if (this.#unread.size === 0) return;
      const handle = handleUnder(socket);
      const unread = this.#unread.get(handle);
      if (unread === undefined) return;
      this.#unread.delete(handle);
      socket.unshift(unread);
    } catch (error) {
      this.onError(error);
      socket.destroy();
    }
  }

  #closeIdle(): void {
    this.#sweep += 1;
    for (const connection of this.#connections) {
      const limit = connection.hasRequested ? this.#sweepsUntilNext : this.#sweepsUntilRequest;
      if (this.#sweep - connection.lastSweep > limit) connection.expire();
    }
  }
}
