import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { unmapped } from "../../config/values/cidr.ts";
import type { ListenerLimits } from "../../config/model/listener-access-config.ts";
import { ownBudget, type ConnectionBudget } from "./connection-budget.ts";

/** The limit that a connection exceeds. */
export type ExceededLimit = "connections" | "connections_per_address" | "file_descriptors";

/** The requests of one connection that wait for their answers. */
interface WaitingRequests {
  requests: number;
  /** How many of those that the client sent at once were read; `null` if it sent one at a time. */
  burst: number | null;
  /** The response to the newest request. */
  last: ServerResponse | undefined;
  /** Called after each answer, once somebody waits for the answers. */
  onAnswered: (() => void) | null;
}

/** Counts the connections of one listener and of each address, and closes those above the limits. */
export class ConnectionLimiter {
  readonly #byAddress = new Map<string, number>();
  /** The address that each connection counts for. */
  readonly #counted = new WeakMap<Socket, { address: string }>();
  readonly #waiting = new WeakMap<Socket, WaitingRequests>();
  /** One callback for all responses: a closure for each of them would slow down the request path. */
  readonly #onResponseClosed: (this: ServerResponse) => void;
  readonly #onRefused: (address: string, limit: ExceededLimit) => void;
  readonly #budget: ConnectionBudget;
  #limits: ListenerLimits;
  #count = 0;

  /**
   * @param onRefused called with the address of each connection that is closed, and the limit that it exceeds
   * @param budget the limit that all listeners of the process share
   */
  constructor(
    limits: ListenerLimits,
    onRefused: (address: string, limit: ExceededLimit) => void,
    budget: ConnectionBudget = ownBudget,
  ) {
    this.#limits = limits;
    this.#budget = budget;
    this.#onRefused = onRefused;
    const waiting = this.#waiting;
    this.#onResponseClosed = function onResponseClosed(this: ServerResponse): void {
      const count = waiting.get(this.req.socket);
      if (count === undefined) return;
      count.requests -= 1;
      count.onAnswered?.();
    };
  }

  /** Applies new limits. Open connections stay. */
  limitTo(limits: ListenerLimits): void {
    this.#limits = limits;
  }

  /** Must be called for every new socket. Resets one above the limits before anything is read. */
  onConnection(socket: Socket): void {
    const address = unmapped(socket.remoteAddress ?? "");
    if (!this.#admits(socket, address)) return;
    const counted = { address };
    this.#counted.set(socket, counted);
    socket.once("close", () => this.release(counted.address));
  }

  /**
   * Counts a connection for the client that a PROXY preamble names, in place of its peer.
   * @returns `false` if that client is above the limits; the connection is reset then
   */
  countFor(socket: Socket, client: string): boolean {
    const counted = this.#counted.get(socket);
    if (counted === undefined || counted.address === client) return true;
    this.release(counted.address);
    counted.address = ""; // is released in any case when the socket closes
    if (this.#admits(socket, client)) {
      counted.address = client;
      return true;
    }
    this.#add("");
    return false;
  }

  #admits(socket: Socket, address: string): boolean {
    const limit = this.#exceeded(address);
    if (limit === null) {
      this.#add(address);
      return true;
    }
    this.#onRefused(address, limit);
    socket.on("error", () => {}); // caused by the reset
    socket.resetAndDestroy();
    return false;
  }

  /**
   * Counts a new connection.
   * @returns the address to release it with; `null` if it exceeds a limit and is not counted
   */
  acquire(peer: string): string | null {
    const address = unmapped(peer);
    if (this.#exceeded(address) !== null) return null;
    this.#add(address);
    return address;
  }

  /** Counts a closed connection. */
  release(address: string): void {
    this.#count -= 1;
    this.#budget.release();
    const left = (this.#byAddress.get(address) ?? 1) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  /**
   * Counts a request until its response is closed. @returns `false` if too many requests of its connection are waiting
   */
  mayPipeline(socket: Socket, response: ServerResponse): boolean {
    const count = this.#countOf(socket);
    count.last = response;
    if (Math.max(count.requests, count.burst ?? 0) >= this.#limits.pipelined) return false;
    count.requests += 1;
    if (count.burst !== null) count.burst += 1;
    response.on("close", this.#onResponseClosed);
    return true;
  }

  /** The client has sent several requests at once. Until the end of the burst those that are answered count too. */
  beginBurst(socket: Socket): void {
    const count = this.#countOf(socket);
    count.burst = count.requests;
  }

  /** All that the client has sent was read. */
  endBurst(socket: Socket): void {
    this.#countOf(socket).burst = null;
  }

  /** How many requests of a connection wait for their answers. */
  waitingOn(socket: Socket): number {
    return this.#waiting.get(socket)?.requests ?? 0;
  }

  /** The response to the newest request of a connection; `undefined` if it has none. */
  lastResponse(socket: Socket): ServerResponse | undefined {
    return this.#waiting.get(socket)?.last;
  }

  /** Calls back after each further answer of a connection that has requests. */
  onAnswered(socket: Socket, callback: () => void): void {
    const count = this.#waiting.get(socket);
    if (count !== undefined) count.onAnswered = callback;
  }

  #countOf(socket: Socket): WaitingRequests {
    const known = this.#waiting.get(socket);
    if (known !== undefined) return known;
    const count: WaitingRequests = { requests: 0, burst: null, last: undefined, onAnswered: null };
    this.#waiting.set(socket, count);
    return count;
  }

  #exceeded(address: string): ExceededLimit | null {
    if (this.#count >= this.#limits.connections) return "connections";
    if ((this.#byAddress.get(address) ?? 0) >= this.#limits.connectionsPerAddress) return "connections_per_address";
    return this.#budget.isSpent ? "file_descriptors" : null;
  }

  #add(address: string): void {
    this.#budget.take();
    this.#count += 1;
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
  }
}

/** Sets a server's time limits, also for open connections. */
export function limitServer(server: Server, limits: ListenerLimits): void {
  server.headersTimeout = limits.headerTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.idleTimeoutMs;
}
