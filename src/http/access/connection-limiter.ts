import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { unmapped } from "../../config/values/cidr.ts";
import type { ListenerLimits } from "../../config/model/listener-access-config.ts";
import { ownBudget, type ConnectionBudget } from "./connection-budget.ts";

/** Counts the connections of one door, and of each address, and closes those that are too many. */
export class ConnectionLimiter {
  readonly #byAddress = new Map<string, number>();
  readonly #waiting = new WeakMap<Socket, number>();
  readonly #onRefused: (address: string) => void;
  readonly #budget: ConnectionBudget;
  #limits: ListenerLimits;
  #count = 0;

  /**
   * @param onRefused told of each connection that is closed for being too many
   * @param budget what all listeners of the process share: descriptors that probes need are no client's
   */
  constructor(limits: ListenerLimits, onRefused: (address: string) => void, budget: ConnectionBudget = ownBudget) {
    this.#limits = limits;
    this.#budget = budget;
    this.#onRefused = onRefused;
  }

  /** Goes by other limits from now on; connections that are open stay. */
  limitTo(limits: ListenerLimits): void {
    this.#limits = limits;
  }

  /** To be told of every connection that becomes a socket. One that is too many is reset at once, before it has cost anything. */
  onConnection(socket: Socket): void {
    const address = this.acquire(socket.remoteAddress ?? "");
    if (address !== null) {
      socket.once("close", () => this.release(address));
      return;
    }
    this.#onRefused(unmapped(socket.remoteAddress ?? ""));
    socket.on("error", () => {}); // it is being reset by us
    socket.resetAndDestroy();
  }

  /**
   * Counts one connection more.
   * @returns the address that it counts for, to leave by; `null` where it would be too many and is not counted
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

  /** Counts one connection less. */
  release(address: string): void {
    this.#count -= 1;
    this.#budget.release();
    const left = (this.#byAddress.get(address) ?? 1) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  /** To be told of every request: whether its connection may have one more waiting for its answer. */
  mayPipeline(socket: Socket, response: ServerResponse): boolean {
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    if (waiting > this.#limits.pipelined) return false;
    this.#waiting.set(socket, waiting);
    response.once("close", () => this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1));
    return true;
  }
}

/** Sets a server's time limits; those of connections that are open follow. */
export function limitServer(server: Server, limits: ListenerLimits): void {
  server.headersTimeout = limits.headerTimeoutMs;
  server.requestTimeout = limits.requestTimeoutMs;
  server.keepAliveTimeout = limits.idleTimeoutMs;
}
