import type { SendHandle } from "node:child_process";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { AccessControl, type AuthDecision, type RequestKind } from "../access/access-control.ts";
import { ConnectionLimiter, limitServer } from "../access/connection-limiter.ts";
import { CredentialFiles, type ListenerCredentials, readCredentials } from "../access/credential-files.ts";
import { refuseUnsafe } from "../access/unsafe-requests.ts";
import { createFastPath, type FastPath } from "../fast-path/fast-path.ts";
import type { FastPathControl } from "../fast-path/fast-path-control.ts";
import type { ListenerHandler } from "../message/handler.ts";
import { answerExchange, failExchange, requestOf, writeReply } from "../message/http-exchange.ts";
import type { HttpExchange } from "../message/incoming-call.ts";
import { safeMethods, type Request } from "../message/request.ts";
import { bareSocket, type BindTarget, listenOn } from "./bind-target.ts";
import { createListenerServer } from "./create-server.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { SocketListener } from "./socket-listener.ts";

/** What a listener has once it was opened. */
interface OpenParts {
  readonly server: Server;
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
    this.#limiter = new ConnectionLimiter(access.limits, (address) =>
      events.onRejected({ address, status: null, request: null }),
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
    server.on("checkContinue", (message, response) => this.#serve(message, response));
    // A connection above a limit is closed before anything reads from it.
    server.prependListener("connection", (socket: Socket) => this.#onConnection(socket));
    this.#parts = { server, ...this.#control(this.#access, credentials) };
    return listenOn(server, target);
  }

  /**
   * Starts the fast path if the handler has cached responses, and `control` allows it. Resolves when that is decided.
   * Until then, and if it stays off, node:http answers everything. Does nothing if it has started.
   */
  async startFastPath(control: FastPathControl): Promise<void> {
    this.#fastPath ??= createFastPath({
      control,
      limits: this.#access.limits,
      limiter: this.#limiter,
      cached: () => (isOpenToAll(this.#access) ? (this.#handler.cached ?? null) : null),
      onError: (error) => this.#events.onError(error, null),
    });
    await this.#fastPath.start(this.#opened().server);
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
      this.#fastPath?.limitTo(access.limits);
      this.#useTls(credentials);
    };
  }

  /** Stops accepting and closes idle connections. Running requests may finish within `graceMs`; then they are cut. */
  async close(graceMs: number): Promise<void> {
    if (this.#parts === null) return;
    const { server, files } = this.#parts;
    files.close();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    this.#fastPath?.close();
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  #opened(): OpenParts {
    if (this.#parts === null) throw new Error("Cannot use a listener: it must be open");
    return this.#parts;
  }

  #control(access: ListenerAccess, credentials: ListenerCredentials): Omit<OpenParts, "server"> {
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
    const exchange = { message, response, request: requestOf(message) };
    const fail = (error: unknown): void => failExchange(exchange, error, this.#events.onError);
    try {
      const decision = this.#authorize(exchange);
      if (decision instanceof Promise) decision.then((settled) => this.#answer(settled, exchange)).catch(fail);
      else if (decision !== null) this.#answer(decision, exchange);
    } catch (error) {
      fail(error);
    }
  }

  /** @returns `null` if the connection was closed instead */
  #authorize({ message, response, request }: HttpExchange): AuthDecision | Promise<AuthDecision> | null {
    if (!this.#limiter.mayPipeline(message.socket, response)) {
      this.#events.onRejected({ address: message.socket.remoteAddress ?? "", status: null, request });
      message.socket.destroy();
      return null;
    }
    const kind = this.#kindOf(request);
    const refusal = kind === "safe" ? null : refuseUnsafe(message, this.#access, kind === "hint");
    return refusal === null ? this.#opened().accessControl.authorize(message, kind) : { refusal };
  }

  #kindOf(request: Request): RequestKind {
    if (this.#handler.isHint?.(request) === true) return "hint";
    return !safeMethods.includes(request.method) || this.#handler.changesState?.(request) === true ? "unsafe" : "safe";
  }

  #answer(decision: AuthDecision, exchange: HttpExchange): void {
    if ("refusal" in decision) {
      const { refusal } = decision;
      const { message, response, request } = exchange;
      this.#events.onRejected({ address: message.socket.remoteAddress ?? "", status: refusal.status, request });
      writeReply(response, refusal, request.method);
      return;
    }
    answerExchange(this.#handler, exchange, {
      caller: decision.caller,
      limits: this.#access.limits,
      onError: this.#events.onError,
    });
  }
}

/** Whether a listener answers checks without TLS, credentials and allowlist. The fast path has none of them. */
function isOpenToAll({ tls, auth, allow }: ListenerAccess): boolean {
  return tls === null && auth === null && allow === null;
}
