import type { SendHandle } from "node:child_process";
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createPlainServer } from "node:http";
import { Server as TlsServer, createServer as createTlsServer } from "node:https";
import { Server as NetServer, type Socket } from "node:net";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { ownCheckTurns } from "../admission/check-turns.ts";
import { ServerFront } from "../admission/server-front.ts";
import { AccessControl, type AuthDecision, type RequestKind } from "../access/access-control.ts";
import { clientAddressOf } from "../access/client-addresses.ts";
import { ConnectionLimiter, limitServer } from "../access/connection-limiter.ts";
import { CredentialFiles, type ListenerCredentials, readCredentials } from "../access/credential-files.ts";
import { refuseUnsafe } from "../access/unsafe-requests.ts";
import { type FastPath, createFastPath } from "../fast-path/fast-path.ts";
import type { FastPathControl } from "../fast-path/fast-path-control.ts";
import { readAsOneRequest } from "../message/effective-request.ts";
import type { ListenerHandler } from "../message/handler.ts";
import { answerExchange, failExchange, requestOf, writeReply } from "../message/http-exchange.ts";
import type { HttpExchange } from "../message/incoming-call.ts";
import { type Reply, errorReply, reasonOf } from "../message/reply.ts";
import { type Request, safeMethods } from "../message/request.ts";
import { type BindTarget, bareSocket, connectionsEnded, listenOn } from "./bind-target.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { SocketListener } from "./socket-listener.ts";
import type { SecureContextOptions } from "node:tls";

/** What a listener has once it was opened. */
interface OpenParts {
  readonly server: Server;
  readonly front: ServerFront;
  files: CredentialFiles;
  accessControl: AccessControl;
}

/** An HTTP server that checks who may call, and writes what its handler returns. */
export class Listener implements SocketListener {
  readonly #events: ListenerEvents;
  readonly #limiter: ConnectionLimiter;
  #handler: ListenerHandler;
  #access: ListenerAccess;
  #parts: OpenParts | null = null;
  #fastPath: FastPath | null = null;

  constructor(handler: ListenerHandler, access: ListenerAccess, events: ListenerEvents) {
    this.#handler = handler;
    this.#access = access;
    this.#events = events;
    this.#limiter = new ConnectionLimiter(access.limits, (address, reason) =>
      events.onRejected({ address, status: null, reason, request: null }),
    );
  }

  /**
   * Reads the credential files and starts to listen.
   * @returns the port: a free one if the target's is 0
   * @throws Error if a credential file cannot be used; the system's error, with its `code` (EADDRINUSE, EACCES,
   * EADDRNOTAVAIL), if the port cannot be opened
   */
  async open(target: BindTarget): Promise<number> {
    const credentials = readCredentials(this.#access);
    const server = createListenerServer(this.#access, credentials.tls, (message, response) =>
      this.#serve(message, response),
    );
    const front = new ServerFront(server, {
      access: this.#access,
      limiter: this.#limiter,
      onRejected: (rejected) => this.#events.onRejected({ ...rejected, request: null }),
      onError: (error) => this.#events.onError(error, null),
    });
    front.attach();
    server.on("checkContinue", (message, response) => this.#serve(message, response));
    server.on("checkExpectation", (message, response) => this.#refuse(exchangeOf(message, response), unexpected));
    // A connection above a limit is closed before anything reads from it.
    server.prependListener("connection", (socket: Socket) => this.#onConnection(socket));
    this.#parts = { server, front, ...this.#control(this.#access, credentials) };
    return listenOn(server, target);
  }

  /**
   * Starts the fast path if the handler has cached responses, and `control` allows it. Resolves when that is decided.
   * Until then, and if it stays off, node:http answers everything. Does nothing if it has started.
   */
  async startFastPath(control: FastPathControl): Promise<void> {
    const { server, front } = this.#opened();
    this.#fastPath ??= createFastPath({
      control,
      limits: this.#access.limits,
      turns: ownCheckTurns,
      limiter: this.#limiter,
      cached: () => (isOpenToAll(this.#access) ? (this.#handler.cached ?? null) : null),
      // A connection that begins with a PROXY preamble is read by the front.
      leavesOut: (peer) => front.isProxy(peer),
      onContinued: (socket) => front.continueOn(socket),
      onError: (error) => this.#events.onError(error, null),
    });
    await this.#fastPath.start(server);
  }

  /** The listening socket, for another process to listen on too. */
  get socket(): SendHandle {
    return bareSocket(this.#opened().server);
  }

  /** The address that the socket has; `null` if it has none, as a Unix socket. */
  get boundAddress(): string | null {
    const address = this.#opened().server.address();
    return typeof address === "object" && address !== null ? address.address : null;
  }

  /** Answers by another handler from now on. Connections stay. */
  handleBy(handler: ListenerHandler): void {
    this.#handler = handler;
  }

  /**
   * Prepares other access rules.
   * @returns a function that puts them in force; connections stay
   * @throws Error if a credential file cannot be used; then nothing has changed
   */
  prepare(access: ListenerAccess): () => void {
    const credentials = readCredentials(access);
    return () => {
      const parts = this.#opened();
      parts.files.close();
      const { files, accessControl } = this.#control(access, credentials);
      parts.files = files;
      parts.accessControl = accessControl;
      this.#access = access;
      this.#limiter.limitTo(access.limits);
      limitServer(parts.server, access.limits);
      parts.front.follow(access);
      this.#fastPath?.limitTo(access.limits);
      this.#useTls(credentials);
    };
  }

  async close(graceMs: number): Promise<void> {
    if (this.#parts === null) return;
    const { server, front, files } = this.#parts;
    files.close();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    this.#fastPath?.close();
    front.close();
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  async leave(): Promise<void> {
    const { server } = this.#opened();
    // The method of node:http would close idle connections, too.
    NetServer.prototype.close.call(server);
    server.prependListener("request", (_, response) => (response.shouldKeepAlive = false));
    await this.#fastPath?.leave();
    await connectionsEnded(server);
  }

  #opened(): OpenParts {
    if (this.#parts === null) throw new Error("Cannot use a listener: it must be open");
    return this.#parts;
  }

  #control(access: ListenerAccess, credentials: ListenerCredentials): Pick<OpenParts, "files" | "accessControl"> {
    const files = new CredentialFiles(access, credentials, {
      onReadResult: this.#events.onFiles,
      onChange: (renewed) => this.#useTls(renewed),
    });
    files.start();
    return { files, accessControl: new AccessControl(access, files) };
  }

  #useTls({ tls }: ListenerCredentials): void {
    const { server } = this.#opened();
    if (server instanceof TlsServer) server.setSecureContext(tls);
  }

  /** Node calls this. What it throws would end the process, so it costs the connection instead. */
  #onConnection(socket: Socket): void {
    try {
      this.#limiter.onConnection(socket);
    } catch (error) {
      this.#events.onError(error, null);
      socket.destroy();
    }
  }

  /** Node calls this. What it throws would end the process, so it costs the answer instead. */
  #serve(message: IncomingMessage, response: ServerResponse): void {
    const problem = readAsOneRequest(message);
    const exchange = exchangeOf(message, response);
    const fail = (error: unknown): void => failExchange(exchange, error, this.#events.onError);
    try {
      const decision = this.#authorize(exchange, problem);
      if (decision instanceof Promise) decision.then((settled) => this.#answer(settled, exchange)).catch(fail);
      else if (decision !== null) this.#answer(decision, exchange);
    } catch (error) {
      fail(error);
    }
  }

  /** @returns `null` if the connection was closed instead */
  #authorize(
    { message, response, request }: HttpExchange,
    problem: Reply | null,
  ): AuthDecision | Promise<AuthDecision> | null {
    if (!this.#limiter.mayPipeline(message.socket, response)) {
      const address = clientAddressOf(message.socket);
      this.#events.onRejected({ address, status: null, reason: "pipelined", request });
      message.socket.destroy();
      return null;
    }
    if (problem !== null) return { refusal: problem };
    const kind = this.#kindOf(request);
    const refusal = kind === "safe" ? null : refuseUnsafe(message, this.#access, kind);
    return refusal === null ? this.#opened().accessControl.authorize(message, kind) : { refusal };
  }

  #kindOf(request: Request): RequestKind {
    const scope = this.#handler.scopeOf?.(request) ?? null;
    if (scope !== null) return scope;
    return !safeMethods.includes(request.method) || this.#handler.changesState?.(request) === true ? "unsafe" : "safe";
  }

  #refuse({ message, response, request }: HttpExchange, refusal: Reply): void {
    const { status } = refusal;
    const reason = reasonOf(refusal);
    this.#events.onRejected({ address: clientAddressOf(message.socket), status, reason, request });
    writeReply(response, refusal, request.method);
  }

  #answer(decision: AuthDecision, exchange: HttpExchange): void {
    if ("refusal" in decision) {
      this.#refuse(exchange, decision.refusal);
      return;
    }
    answerExchange(this.#handler, exchange, {
      caller: decision.caller,
      limits: this.#access.limits,
      onError: this.#events.onError,
    });
  }
}

const unexpected: Reply = errorReply(417, "expectation_failed", {
  message: "Cannot meet the expectation of this request: Expect must be 100-continue or left out",
  headers: ["X-Rolecall-Reason", "expectation_failed"],
});

function exchangeOf(message: IncomingMessage, response: ServerResponse): HttpExchange {
  return { message, response, request: requestOf(message) };
}

/** Whether a listener answers checks without TLS, credentials and allowlist. The fast path has none of them. */
function isOpenToAll({ tls, auth, allow }: ListenerAccess): boolean {
  return tls === null && auth === null && allow === null;
}

/** The longest request head in bytes. A longer one is answered 431. */
const headMax = 16_384;

/**
 * Creates the HTTP server of a listener, with TLS if it is configured. @throws Error if the TLS files cannot be used
 */
function createListenerServer(access: ListenerAccess, tls: SecureContextOptions, onRequest: RequestListener): Server {
  const { headerTimeoutMs, requestTimeoutMs, idleTimeoutMs } = access.limits;
  const options: ServerOptions = {
    headersTimeout: Math.min(headerTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    // How long after its time limit a slow client may be closed.
    connectionsCheckingInterval: Math.max(50, Math.min(5_000, headerTimeoutMs / 2)),
    maxHeaderSize: headMax,
    requireHostHeader: false,
    noDelay: true,
  };
  if (access.tls === null) return createPlainServer(options, onRequest);
  const { client } = access.tls;
  return createTlsServer(
    {
      ...options,
      ...tls,
      handshakeTimeout: headerTimeoutMs,
      requestCert: client !== "off",
      // The listener refuses such a connection itself, in words (`hasVerifiedCertificate`).
      rejectUnauthorized: false,
    },
    onRequest,
  );
}
