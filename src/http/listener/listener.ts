import type { SendHandle } from "node:child_process";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { refuseCrossOrigin } from "../access/cross-origin.ts";
import { ConnectionLimiter, limitServer } from "../access/connection-limiter.ts";
import { CredentialFiles, type ListenerCredentials, readCredentials } from "../access/credential-files.ts";
import { AccessControl, type AuthDecision } from "../access/access-control.ts";
import { createListenerServer } from "./create-server.ts";
import { answerExchange, type HttpExchange, failExchange, requestOf, writeReply } from "../message/http-exchange.ts";
import type { ListenerHandler } from "../message/handler.ts";
import { FastPath, canUseFastPath } from "../fast-path/fast-path.ts";
import { bareSocket, type BindTarget } from "./bind-target.ts";
import { safeMethods, type Request } from "../message/request.ts";

/** Somebody who was not let in. */
export interface RejectedRequest {
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
  readonly onRejected: (refused: RejectedRequest) => void;
  /** The door's files were read; a problem is a sentence, `null` is none. */
  readonly onFiles: (problem: string | null) => void;
}

/** How many connections may wait to be accepted. */
const backlog = 4_096;

/** One open door: an HTTP server that lets in whom its door allows, and writes what its handler says. */
export class Listener {
  readonly #server: Server;
  readonly #fastPath: FastPath;
  readonly #events: ListenerEvents;
  readonly #limiter: ConnectionLimiter;
  #handler: ListenerHandler;
  #access: ListenerAccess;
  #files: CredentialFiles;
  #accessControl: AccessControl;

  /** @throws Error where a file of the door cannot be read or used */
  constructor(handler: ListenerHandler, access: ListenerAccess, events: ListenerEvents) {
    this.#handler = handler;
    this.#access = access;
    this.#events = events;
    const material = readCredentials(access);
    this.#files = this.#watch(access, material);
    this.#accessControl = new AccessControl(access, () => this.#files.tokens);
    this.#limiter = new ConnectionLimiter(access.limits, (address) =>
      events.onRejected({ address, status: null, request: null }),
    );
    this.#server = createListenerServer(access, material.tls, (message, response) => this.#serve(message, response));
    this.#fastPath = new FastPath({
      cached: () => (canUseFastPath(this.#access) ? (this.#handler.cached ?? null) : null),
      limiter: this.#limiter,
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
  open(bindTarget: BindTarget): Promise<number> {
    return new Promise((resolve, reject) => {
      const onOpen = (): void => {
        this.#server.removeListener("error", reject);
        // A failing accept (no file descriptors left) must not end the process; it shows in the answers that do not come.
        this.#server.on("error", () => {});
        this.#fastPath.open(this.#server);
        resolve(portOf(this.#server.address()));
      };
      this.#server.once("error", reject);
      if ("handle" in bindTarget) this.#server.listen(bindTarget.handle, backlog, onOpen);
      else if ("fd" in bindTarget) this.#server.listen({ fd: bindTarget.fd, backlog }, onOpen);
      else this.#server.listen({ host: bindTarget.address, port: bindTarget.port, backlog }, onOpen);
    });
  }

  /** The open socket, for another process to listen on too. */
  get socket(): SendHandle {
    return bareSocket(this.#server);
  }

  /** Answers by another handler from now on; connections stay. */
  handleBy(handler: ListenerHandler): void {
    this.#handler = handler;
  }

  /**
   * Makes ready to let in by another door; connections stay.
   * @returns what puts it in force
   * @throws Error where a file of the door cannot be read or used; then nothing has changed
   */
  prepare(access: ListenerAccess): () => void {
    const material = readCredentials(access);
    return () => {
      this.#files.close();
      const files = this.#watch(access, material);
      this.#files = files;
      this.#access = access;
      this.#accessControl = new AccessControl(access, () => files.tokens);
      this.#limiter.limitTo(access.limits);
      limitServer(this.#server, access.limits);
      this.#takeTls(material);
    };
  }

  /** Stops accepting and closes what is idle; answers under way are finished, at the latest after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#files.close();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#fastPath.close();
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  #watch(access: ListenerAccess, material: ListenerCredentials): CredentialFiles {
    const files = new CredentialFiles(access, material, {
      onFiles: this.#events.onFiles,
      onChange: (renewed) => this.#takeTls(renewed),
    });
    files.start();
    return files;
  }

  #takeTls({ tls }: ListenerCredentials): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(tls);
  }

  /** Node calls this for each connection: what it throws would end the process, and costs the connection instead. */
  #enter(socket: Socket): void {
    try {
      this.#limiter.onConnection(socket);
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
  #admit({ message, response, request }: HttpExchange): AuthDecision | Promise<AuthDecision> | null {
    if (!this.#limiter.mayPipeline(message.socket, response)) {
      this.#events.onRejected({ address: message.socket.remoteAddress ?? "", status: null, request });
      message.socket.destroy();
      return null;
    }
    const isUnsafe = !safeMethods.includes(request.method) || this.#handler.changes?.(request) === true;
    const refusal = isUnsafe ? refuseCrossOrigin(message.headers, this.#access.trustedOrigins) : null;
    return refusal === null ? this.#accessControl.authorize(message, isUnsafe) : { refusal };
  }

  #receive(admission: AuthDecision, exchange: HttpExchange): void {
    if ("refusal" in admission) {
      const { refusal } = admission;
      const { message, response, request } = exchange;
      this.#events.onRejected({ address: message.socket.remoteAddress ?? "", status: refusal.status, request });
      writeReply(response, refusal, request.method);
      return;
    }
    answerExchange(this.#handler, exchange, {
      caller: admission.caller,
      limits: this.#access.limits,
      onError: this.#events.onError,
    });
  }
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
