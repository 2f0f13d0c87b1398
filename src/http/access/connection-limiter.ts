import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { unmapped } from "../../config/values/cidr.ts";
import type { ListenerLimits } from "../../config/model/listener-access-config.ts";
import { ownBudget, type ConnectionBudget } from "./connection-budget.ts";

/** Counts the connections of one listener and of each address, and closes those above the limits. */
export class ConnectionLimiter {
  readonly #byAddress = new Map<string, number>();
  readonly #waiting = new WeakMap<Socket, { requests: number }>();
  /** One callback for all responses: a closure for each of them would slow down the request path. */
  readonly #onResponseClosed: (this: ServerResponse) => void;
  readonly #onRefused: (address: string) => void;
  readonly #budget: ConnectionBudget;
  #limits: ListenerLimits;
  #count = 0;

  /**
   * @param onRefused called with the address of each connection that is closed
   * @param budget the limit that all listeners of the process share
   */
  constructor(limits: ListenerLimits, onRefused: (address: string) => void, budget: ConnectionBudget = ownBudget) {
    this.#limits = limits;
    this.#budget = budget;
    this.#onRefused = onRefused;
    const waiting = this.#waiting;
    this.#onResponseClosed = function onResponseClosed(this: ServerResponse): void {
      const count = waiting.get(this.req.socket);
      if (count !== undefined) count.requests -= 1;
    };
  }

  /** Applies new limits. Open connections stay. */
  limitTo(limits: ListenerLimits): void {
    this.#limits = limits;
  }

  /** Must be called for every new socket. Resets one above the limits before anything is read. */
  onConnection(socket: Socket): void {
    const address = this.acquire(socket.remoteAddress ?? "");
    if (address !== null) {
      socket.once("close", () => this.release(address));
      return;
    }
    this.#onRefused(unmapped(socket.remoteAddress ?? ""));
    socket.on("error", () => {}); // caused by the reset
    socket.resetAndDestroy();
  }

  /**
   * Counts a new connection.
   * @returns the address to release it with; `null` if it exceeds a limit and is not counted
   */
  acquire(peer: string): string | null {
    const address = unmapped(peer);
    const own = this.#byAddress.get(address) ?? 0;
    if (this.#count >= this.#limits.connections || own >= this.#limits.connectionsPerAddress || !this.#budget.take())
      return null;
    this.#count += 1;
    this.#byAddress.set(address, own + 1);
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
    let count = this.#waiting.get(socket);
    if (count === undefined) this.#waiting.set(socket, (count = { requests: 0 }));
    if (count.requests >= this.#limits.pipelined) return false;
    count.requests += 1;
    response.on("close", this.#onResponseClosed);
    return true;
  }
}

/** Sets a server's time limits, also for open connections. */
export function limitServer(server: Server, limits: ListenerLimits): void {
  server.headersTimeout = limits.headerTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.idleTimeoutMs;
}
