import type { CheckTurns } from "../admission/check-turns.ts";
import type { FallbackReason } from "../message/fast-path-counts.ts";
import type { CachedResponses } from "../message/handler.ts";
import { renderedTimeout } from "../message/http1-serializer.ts";
import { simpleHeadMax } from "../message/simple-request-parser.ts";
import type { FastPathMonitor } from "./fast-path-monitor.ts";
import type { TcpHandle } from "./node-internals.ts";
import { RawTcpConnection } from "./raw-tcp-connection.ts";
import type { TcpIo } from "./tcp-io.ts";

/** The fast path of a listener, as its connections use it. */
export interface FastConnectionHost {
  readonly io: TcpIo;
  readonly monitor: FastPathMonitor;
  readonly turns: CheckTurns;
  /** The number of the present sweep for idle connections. */
  readonly sweep: number;
  /** The responses that may be sent; `null` while no request may be answered here. */
  cached(): CachedResponses | null;
  /** Passes the connection to node:http, which reads `unread` first. */
  fallBack(connection: FastConnection, unread: Buffer | null): void;
  onClosed(connection: FastConnection): void;
  /** Reports what was thrown and trips the fast path. Never throws. */
  onError(error: unknown): void;
}

/**
 * A connection on the fast path: answers each chunk that is exactly one simple request, and falls back at the first
 * other chunk.
 */
export class FastConnection extends RawTcpConnection {
  /** The client address that the connection counts for. */
  readonly address: string;
  /** The sweep of its last request, or of its start. */
  lastSweep: number;
  hasRequested = false;
  readonly #host: FastConnectionHost;

  constructor(handle: TcpHandle, address: string, host: FastConnectionHost) {
    super(handle, host.io);
    this.#host = host;
    this.address = address;
    this.lastSweep = host.sweep;
  }

  /** Closes the connection because it was idle, with a 408 if it has not sent a request, as node:http does. */
  expire(): void {
    try {
      if (!this.hasRequested) this.write(renderedTimeout);
      this.close();
    } catch (error) {
      this.fail(error);
    }
  }

  protected read(buffer: Buffer, length: number): void {
    const isTooLong = length > simpleHeadMax;
    const response = isTooLong ? null : this.#find(buffer.toString("latin1", 0, length));
    if (response === null) {
      this.#fallBack(isTooLong ? "too_long" : "not_cached", Buffer.from(buffer.subarray(0, length)));
      return;
    }
    this.#host.monitor.countRequest();
    this.lastSweep = this.#host.sweep;
    this.hasRequested = true;
    const isTurnSpent = this.#host.turns.count();
    if (!response.keepsConnection) this.end(response.bytes);
    else if (this.#respond(response.bytes) && isTurnSpent) this.#waitForTurn();
  }

  protected onClosed(): void {
    this.#host.turns.remove(this);
    this.#host.onClosed(this);
  }

  protected failed(error: unknown): void {
    this.#host.onError(error);
  }

  /** A look-up that throws costs no request: node:http gets it. */
  #find(text: string): ReturnType<CachedResponses["find"]> {
    try {
      return this.#host.cached()?.find(text) ?? null;
    } catch (error) {
      this.#host.onError(error);
      return null;
    }
  }

  /** @returns whether the connection is still on the fast path */
  #respond(bytes: Buffer): boolean {
    const result = this.write(bytes);
    if (result === "sent") this.enableKeepAlive();
    else if (result === "lost") this.close();
    else this.#fallBack("slow_reader", null); // node:http stops reading until its peer reads
    return result === "sent";
  }

  #waitForTurn(): void {
    this.pause();
    this.#host.turns.add(this);
  }

  #fallBack(reason: FallbackReason, unread: Buffer | null): void {
    const { monitor } = this.#host;
    monitor.countFallback(monitor.isTripped ? "tripped" : reason);
    this.#host.fallBack(this, unread);
  }
}
