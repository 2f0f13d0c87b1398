import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import type { DoorConfig } from "../config/door-config.ts";
import { Crowd, limitServer } from "./door-crowd.ts";
import { DoorFiles, type DoorMaterial, readDoor } from "./door-files.ts";
import { Guard, type Admission } from "./door-guard.ts";
import { createDoorServer } from "./door-server.ts";
import { FastLane, mayHurry, type QuickAnswers } from "./fast-lane.ts";
import { type HandedOver, isHandedOver } from "./passage.ts";
import { errorReply, type Reply } from "./reply.ts";
import type { Request } from "./request.ts";
import { targetMax } from "./understand.ts";

/**
 * Gives the reply to a request, at once or, for what is asked seldom, later; or hands the request over whole. The message is for those
 * that have a body.
 */
export interface Handler {
  (request: Request, message: IncomingMessage): Reply | Promise<Reply> | HandedOver;
  /** The answers that may be given before a request is taken apart; left out where the fast lane is off. */
  readonly quick?: QuickAnswers;
}

/** What a listener tells of. */
export interface ListenerEvents {
  /** A handler that threw: always a mistake of our own. */
  readonly onError: (error: unknown, request: Request) => void;
  /** Somebody was not let in; `request` is `null` where only a connection was made. */
  readonly onRefused: (refused: { readonly address: string; readonly status: number | null; readonly request: Request | null }) => void;
  /** The door's files were read; a problem is a sentence, `null` is none. */
  readonly onFiles: (problem: string | null) => void;
}

/** Where to listen: an address, or a socket that was inherited (systemd). */
export type Place = { readonly address: string; readonly port: number } | { readonly fd: number };

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
    this.#lane = new FastLane(this.#server, () => (mayHurry(this.#door) ? (this.#handler.quick ?? null) : null));
    this.#server.on("checkContinue", (message, response) => this.#serve(message, response));
    // Whoever is too many is turned away before anything reads.
    this.#server.prependListener("connection", (socket: Socket) => this.#crowd.enter(socket));
  }

  /**
   * Starts listening.
   * @returns the port it has, which was free where 0 was asked for
   * @throws what the system says, with its `code`: EADDRINUSE, EACCES, EADDRNOTAVAIL
   */
  open(place: Place): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen("fd" in place ? { fd: place.fd } : { host: place.address, port: place.port, backlog: 4096 }, () => {
        this.#server.removeListener("error", reject);
        // A failing accept (no file descriptors left) must not end the process; it shows in the answers that do not come.
        this.#server.on("error", () => {});
        resolve(portOf(this.#server.address()));
      });
    });
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

  #serve(message: IncomingMessage, response: ServerResponse): void {
    const request = requestOf(message);
    if (!this.#crowd.mayWait(message.socket, response)) {
      this.#events.onRefused({ address: message.socket.remoteAddress ?? "", status: null, request });
      message.socket.destroy();
      return;
    }
    try {
      const admission = this.#guard.admit(message);
      if (!(admission instanceof Promise)) this.#receive(admission, { message, response, request });
      else {
        const later = admission.then((known) => this.#receive(known, { message, response, request }));
        later.catch((error: unknown) => this.#fail(response, request, error));
      }
    } catch (error) {
      this.#fail(response, request, error);
    }
  }

  #receive(admission: Admission, { message, response, request }: Exchange): void {
    if ("refusal" in admission) {
      const { refusal } = admission;
      this.#events.onRefused({ address: message.socket.remoteAddress ?? "", status: refusal.status, request });
      write(response, refusal, request.method);
      return;
    }
    const reply = request.target.length > targetMax ? tooLong(request.target) : this.#handler(request, message);
    if (reply instanceof Promise) {
      reply.then((late) => write(response, late, request.method)).catch((error: unknown) => this.#fail(response, request, error));
    } else if (isHandedOver(reply)) {
      const taken = reply.take({ message, response, visitor: admission.visitor, limits: this.#door.limits });
      taken.catch((error: unknown) => this.#fail(response, request, error));
    } else write(response, reply, request.method);
  }

  /** A mistake of our own is one 500, and told; it ends nothing else. */
  #fail(response: ServerResponse, request: Request, error: unknown): void {
    this.#events.onError(error, request);
    if (response.headersSent) response.destroy();
    else
      write(response, errorReply(500, "internal", { message: "Cannot answer: a mistake of rolecall's own, see its log" }), request.method);
  }
}

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: Request;
}

function requestOf({ method = "GET", url = "/", headers }: IncomingMessage): Request {
  return {
    method,
    target: url,
    host: headers.host,
    nodeHeader: oneOf(headers["x-rolecall-node"]),
    serverState: oneOf(headers["x-haproxy-server-state"]),
  };
}

function tooLong(target: string): Reply {
  return errorReply(414, "target_too_long", {
    message: `Cannot read a target of ${target.length} characters: ${targetMax} are allowed`,
  });
}

/** What is left of a request's body is not read: it is closed on instead. */
function write(response: ServerResponse, reply: Reply, method: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.sendDate = false;
  const pieces = method === "OPTIONS" && reply.hasOptionsBody !== true ? [] : (reply.pieces ?? [reply.body]);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const closing = hasUnreadBody(response.req) ? ["Connection", "close"] : [];
  response.writeHead(reply.status, reply.phrase, [...reply.headers, "Content-Length", String(length), ...closing]);
  if (method === "HEAD" || length === 0) response.end();
  else if (pieces.length === 1) response.end(pieces[0]);
  else sendPieces(pieces, response);
}

/** Piece by piece, as fast as the asker takes them. One that goes away takes the rest with it. */
function sendPieces(pieces: readonly Buffer[], response: ServerResponse): void {
  pipeline(Readable.from(pieces, { objectMode: false }), response, () => {});
}

function hasUnreadBody({ headers, complete }: IncomingMessage): boolean {
  if (complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
