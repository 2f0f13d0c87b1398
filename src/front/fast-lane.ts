import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { DoorConfig } from "../config/door-config.ts";
import { BareConnection } from "./bare-connection.ts";
import type { Crowd } from "./door-crowd.ts";
import { renderedTimeout } from "./rendered.ts";
import { simpleHeadMax } from "./request-head.ts";
import { type Handle, peerOf, takeConnections } from "./tcp-handle.ts";

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

/** What the lane is wired to. */
export interface LaneContext {
  /** The answers in force; while it gives `null` every connection goes the ordinary way at once. */
  readonly quick: () => QuickAnswers | null;
  readonly crowd: Crowd;
  /** Called with what threw on a connection, which is closed for it. */
  readonly onError: (error: unknown) => void;
}

/**
 * The fast lane: answers a chunk that is exactly one simple request (request-head.ts) straight from rendered bytes. At the first
 * chunk that is anything else, the connection goes over to node:http for good, the unread chunk put back in front: it reads
 * it as if nothing had been before.
 */
export class FastLane {
  readonly #context: LaneContext;
  readonly #passengers = new Set<Passenger>();
  readonly #sweeper: NodeJS.Timeout;
  /** What is to be put back in front of the connection that is given to node:http now. */
  #unread: Buffer | null = null;
  #giveBack: (handle: Handle) => void = () => {};
  #sweep = 0;

  constructor(context: LaneContext) {
    this.#context = context;
    this.#sweeper = setInterval(() => this.#sweepIdle(), sweepMs).unref();
  }

  /** Takes the new connections of a server that listens; it keeps those that the lane cannot have. */
  open(server: Server): void {
    this.#giveBack = takeConnections(server, (handle) => this.#admit(handle)) ?? this.#giveBack;
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
    for (const passenger of this.#passengers) passenger.close();
  }

  /** Finds the answer to a chunk. */
  find(text: string): ReturnType<QuickAnswers["find"]> {
    return this.#context.quick()?.find(text) ?? null;
  }

  get sweep(): number {
    return this.#sweep;
  }

  /** Hands a connection over to node:http, with what it has to read first. */
  handOver(passenger: Passenger, unread: Buffer | null): void {
    this.#unread = unread;
    try {
      passenger.giveBack(this.#giveBack);
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

  leave(passenger: Passenger): void {
    this.#passengers.delete(passenger);
    this.#context.crowd.leave(passenger.address);
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
    if (this.#context.quick() === null) return false;
    const address = this.#context.crowd.take(peerOf(handle));
    if (address === null) return false; // is refused as it is in the ordinary lane
    const passenger = new Passenger(this, handle, address);
    this.#passengers.add(passenger);
    try {
      passenger.start();
    } catch (error) {
      passenger.fail(error);
    }
    return true;
  }

  /** As node:http does: a connection that never asks gets a 408, one that asks no more is closed. */
  #sweepIdle(): void {
    this.#sweep += 1;
    for (const passenger of this.#passengers) {
      if (this.#sweep - passenger.sweep <= (passenger.hasAsked ? sweepsIdle : sweepsUnasked)) continue;
      passenger.expire();
    }
  }
}

/** One connection in the lane. */
class Passenger extends BareConnection {
  readonly address: string;
  /** The sweep in which it last asked, or came. */
  sweep: number;
  hasAsked = false;
  readonly #lane: FastLane;

  constructor(lane: FastLane, handle: Handle, address: string) {
    super(handle);
    this.#lane = lane;
    this.address = address;
    this.sweep = lane.sweep;
  }

  protected read(buffer: Buffer, length: number): void {
    const answer = length > simpleHeadMax ? null : this.#lane.find(buffer.toString("latin1", 0, length));
    if (answer === null) {
      this.#lane.handOver(this, Buffer.from(buffer.subarray(0, length)));
      return;
    }
    this.sweep = this.#lane.sweep;
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

  protected gone(): void {
    this.#lane.leave(this);
  }

  protected failed(error: unknown): void {
    this.#lane.report(error);
  }

  #keep(bytes: Buffer): void {
    const written = this.write(bytes);
    if (written === "sent") this.goOn();
    else if (written === "lost") this.close();
    else this.#lane.handOver(this, null); // who asks without reading is slowed down by node:http
  }
}
