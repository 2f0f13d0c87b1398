import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { unmapped } from "../../config/values/cidr.ts";
import type { ConnectionLimiter } from "../access/connection-limiter.ts";
import { allowlistOf } from "../access/ip-allowlist.ts";
import { hasVerifiedCertificate } from "../access/verified-certificate.ts";
import { Admission } from "./admission.ts";
import { ownCheckTurns } from "./check-turns.ts";
import { clientAddressOf, connectionKey, setClientAddress } from "../access/client-addresses.ts";
import { PacedReader } from "./paced-reader.ts";
import { type ReadingError, reasonOfParserError, reasonOfTlsError } from "./parser-errors.ts";
import { refuseRaw, refuseRequest } from "./raw-refusal.ts";
import { ownTurns } from "./reading-turns.ts";
import { rejectionFor, type RejectionReason } from "./rejection.ts";

/** A connection that was refused before any handler saw a request of it. */
export interface RejectedConnection {
  readonly address: string;
  /** The status answered; `null` without an answer. */
  readonly status: number | null;
  readonly reason: string;
}

export interface ServerFrontContext {
  readonly access: ListenerAccess;
  readonly limiter: ConnectionLimiter;
  readonly onRejected: (rejected: RejectedConnection) => void;
  /** Called with what was thrown for a connection, which is closed then. */
  readonly onError: (error: unknown) => void;
}

type SocketListener = (socket: Socket) => void;

/**
 * Stands before the server of a listener: it admits connections (`Admission`) and answers in words what node:http or
 * TLS would refuse in silence.
 */
export class ServerFront {
  readonly #server: Server;
  readonly #context: ServerFrontContext;
  readonly #admission: Admission;
  /** Connections that the fast path has answered on: node:http reads them on from where they are. */
  readonly #continued = new WeakSet<Socket>();
  /** Connections whose reading failed: the errors that follow are consequences. */
  readonly #failed = new WeakSet<Socket>();
  /** The clients of connections that begin TLS, by the four addresses of the connection. */
  readonly #clients = new Map<string, string>();
  #access: ListenerAccess;
  #isProxy: (address: string) => boolean;
  /** What reads the connections that node:http listens to. */
  readonly #readers = new WeakMap<Socket, PacedReader>();
  #listenWithHttp: SocketListener = () => {};
  #beginTls: SocketListener | null = null;

  /** @param server does not listen yet */
  constructor(server: Server, context: ServerFrontContext) {
    this.#server = server;
    this.#context = context;
    this.#access = context.access;
    this.#isProxy = proxiesOf(context.access);
    this.#admission = new Admission({
      onPreamble: (socket) => context.limiter.countFor(socket, clientAddressOf(socket)),
      onAdmitted: (socket) => this.#contain(socket, () => this.#begin(socket)),
      onRejected: (socket, reason) => this.#report(socket, reason),
    });
  }

  /** Takes the connections of the server from now on. */
  attach(): void {
    const server = this.#server;
    if (server instanceof HttpsServer) {
      this.#listenWithHttp = takeOver(server, "secureConnection", (socket) => this.#onSecure(socket));
      this.#beginTls = takeOver(server, "connection", (socket) => this.#onConnection(socket));
      server.removeAllListeners("tlsClientError"); // node:https would report the same as a clientError
      server.on("tlsClientError", (error: ReadingError, socket: Socket) => this.#onTlsError(error, socket));
    } else this.#listenWithHttp = takeOver(server, "connection", (socket) => this.#onConnection(socket));
    server.on("clientError", (error: ReadingError, socket: Socket) => this.#onClientError(error, socket));
    server.on("connect", (_: IncomingMessage, socket: Socket) => {
      this.#readers.get(socket)?.stop(); // node:http has let go of the connection
      this.#reject(socket, "connect");
    });
  }

  /** Applies other access rules to new connections. */
  follow(access: ListenerAccess): void {
    this.#access = access;
    this.#isProxy = proxiesOf(access);
  }

  /** Whether connections of a peer must begin with a PROXY preamble. */
  isProxy(peer: string): boolean {
    return this.#access.proxyProtocol !== null && this.#isProxy(peer);
  }

  /** Tells that a connection has begun elsewhere, and that requests of it were answered. */
  continueOn(socket: Socket): void {
    this.#continued.add(socket);
  }

  /** Closes the connections that have not begun. */
  close(): void {
    this.#admission.close();
  }

  #onConnection(socket: Socket): void {
    if (socket.destroyed) return;
    if (this.#continued.has(socket)) {
      this.#beginHttp(socket);
      return;
    }
    this.#admission.admit(socket, {
      needsPreamble: this.isProxy(unmapped(socket.remoteAddress ?? "")),
      expects: this.#beginTls === null ? "http" : "tls",
      timeoutMs: this.#access.limits.headerTimeoutMs,
    });
  }

  #onSecure(socket: Socket): void {
    const client = this.#clients.get(connectionKey(socket));
    if (client !== undefined) setClientAddress(socket, client);
    const { headerTimeoutMs } = this.#access.limits;
    this.#admission.admit(socket, { needsPreamble: false, expects: "http", timeoutMs: headerTimeoutMs });
  }

  #beginHttp(socket: Socket): void {
    this.#listenWithHttp(socket);
    const { limiter, onError } = this.#context;
    const reader = new PacedReader(socket, {
      limiter,
      turns: ownTurns,
      checkTurns: ownCheckTurns,
      onOverflow: (each) =>
        this.#context.onRejected({ address: clientAddressOf(each), status: null, reason: "pipelined" }),
      onError,
    });
    this.#readers.set(socket, reader);
  }

  /** Begins TLS on an admitted connection, or HTTP on one that needs no TLS, or is inside it. */
  #begin(socket: Socket): void {
    if (socket instanceof TLSSocket) this.#beginRequests(socket);
    else if (this.#beginTls === null) this.#beginHttp(socket);
    else {
      const [key, client] = [connectionKey(socket), clientAddressOf(socket)];
      if (client !== unmapped(socket.remoteAddress ?? "")) {
        this.#clients.set(key, client);
        socket.once("close", () => this.#clients.delete(key));
      }
      this.#beginTls(socket);
    }
  }

  /**
   * The handshake accepts a client without a valid certificate even if one is required. It is refused here, in words,
   * before any handler sees its request.
   */
  #beginRequests(socket: TLSSocket): void {
    if (this.#access.tls?.client !== "required" || hasVerifiedCertificate(socket)) this.#beginHttp(socket);
    else this.#reject(socket, hasCertificate(socket) ? "bad_client_certificate" : "no_client_certificate");
  }

  #onTlsError(error: ReadingError, socket: Socket): void {
    const reason = reasonOfTlsError(error);
    if (reason !== null) this.#context.onRejected({ address: clientAddressOf(socket), status: null, reason });
    socket.destroy();
  }

  /**
   * Answers what node:http could not read, after the answers to the requests before it. The handlers of these requests
   * run first: most answer in the same turn of the event loop.
   */
  #onClientError(error: ReadingError, socket: Socket): void {
    if (this.#failed.has(socket)) return;
    this.#failed.add(socket);
    if (error.code === "ECONNRESET" || error.code === "EPIPE") socket.destroy();
    else setImmediate(() => this.#contain(socket, () => this.#settle(error, socket)));
  }

  #settle(error: ReadingError, socket: Socket): void {
    const { limiter } = this.#context;
    const response = limiter.lastResponse(socket);
    const isInBody = response !== undefined && !response.req.complete;
    const reason = reasonOfParserError(error, isInBody);
    const end = (): void => {
      // An answer that closes the connection was the last one: what follows it is not answered (RFC 9112, 9.6).
      if (socket.destroyed || !socket.writable || limiter.waitingOn(socket) > (isInBody ? 1 : 0)) return;
      if (reason === null) socket.destroy();
      else if (isInBody && response !== undefined) this.#refuseBody(response, reason);
      else this.#reject(socket, reason);
    };
    limiter.onAnswered(socket, end);
    end();
  }

  /** Answers a request whose body cannot be read, in place of its handler, which must not see a whole body any more. */
  #refuseBody(response: ServerResponse, reason: RejectionReason): void {
    const { socket } = response.req;
    if (response.headersSent) socket.destroy();
    else {
      this.#report(socket, reason);
      refuseRequest(response.req, rejectionFor(reason));
    }
  }

  #reject(socket: Socket, reason: RejectionReason): void {
    this.#report(socket, reason);
    refuseRaw(socket, rejectionFor(reason));
  }

  #report(socket: Socket, reason: RejectionReason): void {
    const { status } = rejectionFor(reason);
    this.#context.onRejected({ address: clientAddressOf(socket), status, reason });
  }

  /** Node calls the callers. What they throw would end the process, so it costs the connection instead. */
  #contain(socket: Socket, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#context.onError(error);
      socket.destroy();
    }
  }
}

function hasCertificate(socket: TLSSocket): boolean {
  return socket.getPeerX509Certificate() !== undefined;
}

function proxiesOf({ proxyProtocol }: ListenerAccess): (address: string) => boolean {
  return proxyProtocol === null ? () => false : allowlistOf(proxyProtocol);
}

/** Puts a listener in the place of those that a server has. @returns a function that calls those */
function takeOver(server: Server, event: "connection" | "secureConnection", listener: SocketListener): SocketListener {
  const before = server.rawListeners(event);
  server.removeAllListeners(event);
  server.on(event, listener);
  return (socket) => {
    for (const each of before) Reflect.apply(each, server, [socket]);
  };
}
