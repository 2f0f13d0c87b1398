import type { Server } from "node:net";
import type { CachedResponses } from "../message/handler.ts";
import type { FastPathControl } from "./fast-path-control.ts";
import { FastConnections, type FastConnectionsContext, type FastPathLimits } from "./fast-connections.ts";

/**
 * Answers simple requests of one listener from cached bytes, without node:http (README.md). All other requests,
 * and all requests while it is off, go to node:http as usual.
 */
export interface FastPath {
  /**
   * Starts to take the connections that `server`, which listens, accepts, if this process may use the fast path and it
   * has passed its self-test. Resolves when that is decided. Never rejects. Does nothing if it has started already.
   */
  start(server: Server): Promise<void>;
  /** Keeps other time limits from now on, for open connections too. */
  limitTo(limits: FastPathLimits): void;
  /**
   * Takes no more connections, and answers nothing more: each connection goes to node:http with its next request.
   * Resolves when none is left.
   */
  leave(): Promise<void>;
  /** Closes all connections that are on the fast path, and takes no more. */
  close(): void;
}

/** What the fast path of one listener works with. */
export interface FastPathContext extends Omit<FastConnectionsContext, "io" | "monitor"> {
  readonly control: FastPathControl;
}

export function createFastPath(context: FastPathContext): FastPath {
  return new ListenerFastPath(context);
}

class ListenerFastPath implements FastPath {
  readonly #context: FastPathContext;
  #limits: FastPathLimits;
  #state: "off" | "starting" | "on" | "leaving" | "closed" = "off";
  #connections: FastConnections | null = null;

  constructor(context: FastPathContext) {
    this.#context = context;
    this.#limits = context.limits;
  }

  async start(server: Server): Promise<void> {
    if (this.#state !== "off" || this.#context.cached() === null) return;
    this.#state = "starting";
    const { control, ...context } = this.#context;
    const cached = (): CachedResponses | null => (this.#state === "leaving" ? null : context.cached());
    const io = await control.runSelfTest();
    if (this.#hasEnded()) return;
    this.#state = "off";
    if (io === null) return;
    const connections = new FastConnections({ ...context, cached, io, monitor: control.monitor, limits: this.#limits });
    if (!connections.attach(server)) {
      control.stayOff("a listener has no TCP handle");
      return;
    }
    this.#connections = connections;
    this.#state = "on";
  }

  limitTo(limits: FastPathLimits): void {
    this.#limits = limits;
    this.#connections?.limitTo(limits);
  }

  async leave(): Promise<void> {
    this.#state = "leaving";
    await this.#connections?.emptied();
  }

  close(): void {
    this.#state = "closed";
    this.#connections?.close();
  }

  #hasEnded(): boolean {
    return this.#state === "closed" || this.#state === "leaving";
  }
}
