import type { SendHandle } from "node:child_process";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { DoorConfig } from "../config/door-config.ts";
import { refuseCrossOrigin } from "./cross-origin.ts";
import { Crowd, limitServer } from "./door-crowd.ts";
import { DoorFiles, type DoorMaterial, readDoor } from "./door-files.ts";
import { Guard, type Admission } from "./door-guard.ts";
import { createDoorServer } from "./door-server.ts";
import { answerExchange, type Answerer, type Exchange, failExchange, requestOf, writeReply } from "./exchange.ts";
import { FastLane, mayHurry, type QuickAnswers } from "./fast-lane.ts";
import { bareSocket, type Place } from "./place.ts";
import { safeMethods, type Request } from "./request.ts";

/** Answers what comes in at a door. The message is for requests that have a body. */
export interface Handler extends Answerer {
  /** The answers that may be given before a request is taken apart; left out where the fast lane is off. */
  readonly quick?: QuickAnswers;
  /** Whether a request changes something although its method is safe; left out where none does. */
  readonly changes?: (request: Request) => boolean;
}

/** Somebody who was not let in. */
export interface Refused {
  readonly address: string;
  readonly status: number | null;
  /** `null` where only a connection was made. */
  readonly request: Request | null;
  /** How many, where they are told of together. */
  readonly count?: number;
}

/** What a listener tells of. */
export interface ListenerEvents {
  /** Something of our own threw; it cost one answer or one connection. `null` where there is no request. */
  readonly onError: (error: unknown, request: Request | null) => void;
  readonly onRefused: (refused: Refused) => void;
  /** The door's files were read; a problem is a sentence, `null` is none. */
  readonly onFiles: (problem: string | null) => void;
}

/** How many connections may wait to be accepted. */
const backlog = 4_096;

/** One open door: an HTTP server that lets in whom its door allows, and writes what its handler says. */
export class Listener {
  readonly #server: Server;
  readonly #lane: FastLane;
  readonly #events: ListenerEvents;
  readonly #crowd: Crowd;
  #handler: Handler;
  #door: DoorConfig;
  #files: DoorFiles;
  #guard: Guard;

  /** @throws Error where a file of the door cannot be read or used */
  constructor(handler: Handler, door: DoorConfig, events: ListenerEvents) {
    this.#handler = handler;
    this.#door = door;
    this.#events = events;
    const material = readDoor(door);
    this.#files = this.#watch(door, material);
    this.#guard = new Guard(door, () => this.#files.tokens);
    this.#crowd = new Crowd(door.limits, (address) => events.onRefused({ address, status: null, request: null }));
    this.#server = createDoorServer(door, material.tls, (message, response) => this.#serve(message, response));
    this.#lane = new FastLane({
      quick: () => (mayHurry(this.#door) ? (this.#handler.quick ?? null) : null),
      crowd: this.#crowd,
      onError: (error) => events.onError(error, null),
    });
    this.#server.on("checkContinue", (message, response) => this.#serve(message, response));
    // Whoever is too many is turned away before anything reads.
    this.#server.prependListener("connection", (socket: Socket) => this.#enter(socket));
  }

  /**
   * Starts listening.
   * @returns the port it has, which was free where 0 was asked for
   * @throws what the system says, with its `code`: EADDRINUSE, EACCES, EADDRNOTAVAIL
   */
  open(place: Place): Promise<number> {
    return new Promise((resolve, reject) => {
      const onOpen = (): void => {
        this.#server.removeListener("error", reject);
        // A failing accept (no file descriptors left) must not end the process; it shows in the answers that do not come.
        this.#server.on("error", () => {});
        this.#lane.open(this.#server);
        resolve(portOf(this.#server.address()));
      };
      this.#server.once("error", reject);
      if ("handle" in place) this.#server.listen(place.handle, backlog, onOpen);
      else if ("fd" in place) this.#server.listen({ fd: place.fd, backlog }, onOpen);
      else this.#server.listen({ host: place.address, port: place.port, backlog }, onOpen);
    });
  }

  /** The open socket, for another process to listen on too. */
  get socket(): SendHandle {
    return bareSocket(this.#server);
  }

  /** Answers by another handler from now on; connections stay. */
  handleBy(handler: Handler): void {
    this.#handler = handler;
  }

  /**
   * Makes ready to let in by another door; connections stay.
   * @returns what puts it in force
   * @throws Error where a file of the door cannot be read or used; then nothing has changed
   */
  prepare(door: DoorConfig): () => void {
    const material = readDoor(door);
    return () => {
      this.#files.close();
      const files = this.#watch(door, material);
      this.#files = files;
      this.#door = door;
      this.#guard = new Guard(door, () => files.tokens);
      this.#crowd.limitTo(door.limits);
      limitServer(this.#server, door.limits);
      this.#takeTls(material);
    };
  }

  /** Stops accepting and closes what is idle; answers under way are finished, at the latest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#files.close();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#lane.close();
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  #watch(door: DoorConfig, material: DoorMaterial): DoorFiles {
    return new DoorFiles(door, material, { onFiles: this.#events.onFiles, onChange: (renewed) => this.#takeTls(renewed) });
  }

  #takeTls({ tls }: DoorMaterial): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(tls);
  }

  /** Node calls this for each connection: what it throws would end the process, and costs the connection instead. */
  #enter(socket: Socket): void {
    try {
      this.#crowd.enter(socket);
    } catch (error) {
      this.#events.onError(error, null);
      socket.destroy();
    }
  }

  /** Node calls this for each request: what it throws would end the process, and costs the answer instead. */
  #serve(message: IncomingMessage, response: ServerResponse): void {
    const exchange = { message, response, request: requestOf(message) };
    const fail = (error: unknown): void => failExchange(exchange, error, this.#events.onError);
    try {
      const admission = this.#admit(exchange);
      if (admission instanceof Promise) admission.then((known) => this.#receive(known, exchange)).catch(fail);
      else if (admission !== null) this.#receive(admission, exchange);
    } catch (error) {
      fail(error);
    }
  }

  /** @returns `null` where the connection is closed instead */
  #admit({ message, response, request }: Exchange): Admission | Promise<Admission> | null {
    if (!this.#crowd.mayWait(message.socket, response)) {
      this.#events.onRefused({ address: message.socket.remoteAddress ?? "", status: null, request });
      message.socket.destroy();
      return null;
    }
    const isUnsafe = !safeMethods.includes(request.method) || this.#handler.changes?.(request) === true;
    const refusal = isUnsafe ? refuseCrossOrigin(message.headers, this.#door.trustedOrigins) : null;
    return refusal === null ? this.#guard.admit(message, isUnsafe) : { refusal };
  }

  #receive(admission: Admission, exchange: Exchange): void {
    if ("refusal" in admission) {
      const { refusal } = admission;
      const { message, response, request } = exchange;
      this.#events.onRefused({ address: message.socket.remoteAddress ?? "", status: refusal.status, request });
      writeReply(response, refusal, request.method);
      return;
    }
    answerExchange(this.#handler, exchange, { visitor: admission.visitor, limits: this.#door.limits, onError: this.#events.onError });
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
