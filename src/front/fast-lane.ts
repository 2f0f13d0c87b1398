import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { DoorConfig } from "../config/door-config.ts";
import { renderedTimeout } from "./rendered.ts";
import { simpleHeadMax } from "./request-head.ts";

/** Finds the bytes that answer a chunk; `null` where the chunk has to go the ordinary way. */
export interface QuickAnswers {
  find(text: string): { readonly bytes: Buffer; readonly keepsConnection: boolean } | null;
}

/**
 * Whether a door lets anybody in without a look, so that its lane may be used: no TLS, no locks, and the time limits that the lane's own
 * sweeps keep.
 */
export function mayHurry({ tls, auth, allow, limits }: DoorConfig): boolean {
  const hasOwnTimes = limits.headerTimeoutMs !== sweepsUnasked * sweepMs || limits.idleTimeoutMs !== sweepsIdle * sweepMs;
  return tls === null && auth === null && allow === null && !hasOwnTimes;
}

/** How often idle connections are looked for, in ms. */
const sweepMs = 5_000;
/** A connection that has asked nothing yet is given up after so many sweeps, one that has asked after so many. */
const sweepsUnasked = 2;
const sweepsIdle = 24;

/** One connection in the lane. */
interface Passenger {
  /** The sweep in which it last asked, or came. */
  sweep: number;
  hasAsked: boolean;
  /** Takes the lane's hands off the socket. */
  readonly leave: () => void;
}

/**
 * The fast lane: answers a chunk that is exactly one simple request (request-head.ts) straight from rendered bytes. At the first
 * chunk that is anything else, the socket goes over to node:http for good, the unread chunk put back in front: it reads
 * it as if nothing had been before.
 */
export class FastLane {
  readonly #quick: () => QuickAnswers | null;
  readonly #ordinary: readonly ((...args: unknown[]) => unknown)[];
  readonly #passengers = new Map<Socket, Passenger>();
  readonly #sweeper: NodeJS.Timeout;
  #sweep = 0;

  /**
   * Puts the lane before a server's own reading of new connections.
   * @param quick the answers in force; while it gives `null` every connection goes the ordinary way at once
   */
  constructor(server: Server, quick: () => QuickAnswers | null) {
    this.#quick = quick;
    // node:http reads a connection by its first listener of this event, and has put no other there yet.
    this.#ordinary = server.listeners("connection").map(
      (listener) =>
        (...args) =>
          Reflect.apply(listener, server, args),
    );
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => this.#admit(socket));
    this.#sweeper = setInterval(() => this.#sweepIdle(), sweepMs).unref();
  }

  /** Ends every connection in the lane. None has an answer under way: each is written at once. */
  close(): void {
    clearInterval(this.#sweeper);
    for (const [socket, { leave }] of this.#passengers) {
      leave();
      socket.destroySoon();
    }
  }

  #admit(socket: Socket): void {
    if (socket.destroyed) return;
    if (this.#quick() === null) {
      this.#goOrdinary(socket);
      return;
    }
    const onData = (chunk: Buffer): void => this.#answer(socket, passenger, chunk);
    const onEnd = (): void => void socket.end();
    const onClose = (): void => leave();
    const leave = (): void => {
      socket.off("data", onData).off("end", onEnd).off("close", onClose);
      this.#passengers.delete(socket);
    };
    const passenger: Passenger = { sweep: this.#sweep, hasAsked: false, leave };
    this.#passengers.set(socket, passenger);
    socket.on("error", ignore).on("close", onClose).on("end", onEnd).on("data", onData);
  }

  #answer(socket: Socket, passenger: Passenger, chunk: Buffer): void {
    const answer = chunk.length > simpleHeadMax ? null : (this.#quick()?.find(chunk.toString("latin1")) ?? null);
    if (answer === null) {
      this.#handOver(socket, passenger, chunk);
      return;
    }
    passenger.sweep = this.#sweep;
    passenger.hasAsked = true;
    if (!answer.keepsConnection) {
      passenger.leave();
      socket.end(answer.bytes);
      socket.destroySoon();
    } else if (!socket.write(answer.bytes)) {
      // Who asks without reading is slowed down by node:http.
      this.#handOver(socket, passenger, null);
    }
  }

  #handOver(socket: Socket, passenger: Passenger, unread: Buffer | null): void {
    passenger.leave();
    socket.off("error", ignore);
    if (unread !== null) socket.unshift(unread);
    this.#goOrdinary(socket);
  }

  #goOrdinary(socket: Socket): void {
    for (const listener of this.#ordinary) listener(socket);
  }

  /** As node:http does: a connection that never asks gets a 408, one that asks no more is closed. */
  #sweepIdle(): void {
    this.#sweep += 1;
    for (const [socket, { sweep, hasAsked, leave }] of this.#passengers) {
      if (this.#sweep - sweep <= (hasAsked ? sweepsIdle : sweepsUnasked)) continue;
      leave();
      if (!hasAsked) socket.write(renderedTimeout);
      socket.destroySoon();
    }
  }
}

/** A peer that goes away in the middle is everyday; the socket closes by itself. */
function ignore(): void {}
