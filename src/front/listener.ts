import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline, Readable } from "node:stream";
import { errorReply, type Reply } from "./reply.ts";
import type { Request } from "./request.ts";
import { targetMax } from "./understand.ts";

/** Gives the reply to a request, at once or, for what is asked seldom, later. The message is for those that have a body. */
export type Handler = (request: Request, message: IncomingMessage) => Reply | Promise<Reply>;

/** Told of a handler that threw: always a mistake of our own. */
export type OnError = (error: unknown, request: Request) => void;

/** Where to listen: an address, or a socket that was inherited (systemd). */
export type Place = { readonly address: string; readonly port: number } | { readonly fd: number };

/** Request heads are read up to this many bytes; what is longer is a 431. */
const headMax = 16_384;
/** Slow senders are cut; balancers that reuse a connection may pause longer than any probe interval (reference/integrations.md, 0.3). */
const timeouts = { headersTimeout: 10_000, requestTimeout: 30_000, keepAliveTimeout: 120_000, connectionsCheckingInterval: 5_000 };

/** One open door: an HTTP server that writes what its handler says. */
export class Listener {
  readonly #server: Server;
  readonly #onError: OnError;
  #handler: Handler;

  constructor(handler: Handler, onError: OnError) {
    this.#handler = handler;
    this.#onError = onError;
    const options = { ...timeouts, maxHeaderSize: headMax, requireHostHeader: false, noDelay: true };
    this.#server = createServer(options, (message, response) => this.#serve(message, response));
    this.#server.on("checkContinue", (message, response) => this.#serve(message, response));
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

  /** Stops accepting and closes what is idle; answers under way are finished, at the latest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  #serve(message: IncomingMessage, response: ServerResponse): void {
    const target = message.url ?? "/";
    const { method = "GET", headers } = message;
    if (target.length > targetMax) {
      write(
        response,
        errorReply(414, "target_too_long", { message: `Cannot read a target of ${target.length} characters: ${targetMax} are allowed` }),
        method,
      );
      return;
    }
    const request: Request = {
      method,
      target,
      host: headers.host,
      nodeHeader: oneOf(headers["x-rolecall-node"]),
      serverState: oneOf(headers["x-haproxy-server-state"]),
    };
    try {
      const reply = this.#handler(request, message);
      if (!(reply instanceof Promise)) write(response, reply, method);
      else reply.then((late) => write(response, late, method)).catch((error: unknown) => this.#fail(response, request, error));
    } catch (error) {
      this.#fail(response, request, error);
    }
  }

  /** A mistake of our own is one 500, and told; it ends nothing else. */
  #fail(response: ServerResponse, request: Request, error: unknown): void {
    this.#onError(error, request);
    write(response, errorReply(500, "internal", { message: "Cannot answer: a mistake of rolecall's own, see its log" }), request.method);
  }
}

function write(response: ServerResponse, reply: Reply, method: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.sendDate = false;
  const pieces = method === "OPTIONS" && reply.hasOptionsBody !== true ? [] : (reply.pieces ?? [reply.body]);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.writeHead(reply.status, reply.phrase, [...reply.headers, "Content-Length", String(length)]);
  if (method === "HEAD" || length === 0) response.end();
  else if (pieces.length === 1) response.end(pieces[0]);
  else sendPieces(pieces, response);
}

/** Piece by piece, as fast as the asker takes them. One that goes away takes the rest with it. */
function sendPieces(pieces: readonly Buffer[], response: ServerResponse): void {
  pipeline(Readable.from(pieces, { objectMode: false }), response, () => {});
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
