import type { SendHandle } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, Server as TlsServer, type TLSSocket } from "node:tls";
import type { ListenerAccess, ListenerLimits } from "../../config/model/listener-access-config.ts";
import { unmapped } from "../../config/values/cidr.ts";
import { ConnectionLimiter } from "../access/connection-limiter.ts";
import { CredentialFiles, type ListenerCredentials, readCredentials } from "../access/credential-files.ts";
import { allowlistOf } from "../access/ip-allowlist.ts";
import { hasVerifiedCertificate } from "../access/verified-certificate.ts";
import { bareSocket, type BindTarget, connectionsEnded, listenOn } from "./bind-target.ts";
import type { ListenerEvents } from "./listener-events.ts";
import type { SocketListener } from "./socket-listener.ts";

/** A connection that was admitted. */
export interface AdmittedConnection {
  /** Its errors are handled. */
  readonly socket: Socket;
  /** The address of the client. */
  readonly peer: string;
  readonly limits: ListenerLimits;
  /** Closes the connection, and reports why. */
  readonly reject: (reason: string) => void;
}

/** How a protocol other than HTTP is served. */
export interface ConnectionProtocol {
  /** Speaks with a client. What it throws closes the connection. */
  readonly converse: (connection: AdmittedConnection) => void;
  /** The name of the protocol in TLS (ALPN); absent: none. */
  readonly alpn?: string;
}

/** A TCP or TLS server that checks who may connect, and passes the connections to a protocol other than HTTP. */
export class ConnectionListener implements SocketListener {
  readonly #protocol: ConnectionProtocol;
  readonly #events: ListenerEvents;
  readonly #limiter: ConnectionLimiter;
  readonly #open = new Set<Socket>();
  #access: ListenerAccess;
  #isAllowed: (address: string) => boolean;
  #server: Server | null = null;
  #files: CredentialFiles | null = null;

  constructor(protocol: ConnectionProtocol, access: ListenerAccess, events: ListenerEvents) {
    this.#protocol = protocol;
    this.#access = access;
    this.#events = events;
    this.#isAllowed = allowedBy(access);
    this.#limiter = new ConnectionLimiter(access.limits, (address, reason) =>
      events.onRejected({ address, status: null, reason, request: null }),
    );
  }

  open(target: BindTarget): Promise<number> {
    const credentials = readCredentials(this.#access);
    const server = this.#createServer(credentials);
    this.#server = server;
    this.#files = this.#watch(this.#access, credentials);
    return listenOn(server, target);
  }

  get socket(): SendHandle {
    return this.#server === null ? undefined : bareSocket(this.#server);
  }

  get boundAddress(): string | null {
    const address = this.#server?.address() ?? null;
    return typeof address === "object" && address !== null ? address.address : null;
  }

  prepare(access: ListenerAccess): () => void {
    const credentials = readCredentials(access);
    const isAllowed = allowedBy(access);
    return () => {
      this.#access = access;
      this.#isAllowed = isAllowed;
      this.#limiter.limitTo(access.limits);
      this.#files?.close();
      this.#files = this.#watch(access, credentials);
      this.#useTls(credentials);
    };
  }

  async close(graceMs: number): Promise<void> {
    this.#files?.close();
    const server = this.#server;
    if (server === null) return;
    const closed = server.listening ? new Promise((resolve) => void server.close(resolve)) : connectionsEnded(server);
    const timer = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(timer);
  }

  async leave(): Promise<void> {
    if (this.#server === null) return;
    this.#server.close();
    await connectionsEnded(this.#server);
  }

  #createServer({ tls: material }: ListenerCredentials): Server {
    const { tls, limits } = this.#access;
    if (tls === null) {
      const server = createServer({ noDelay: true });
      return server.on("connection", (socket) => this.#admit(socket) && this.#converse(socket));
    }
    const { alpn } = this.#protocol;
    const server = createTlsServer({
      ...material,
      noDelay: true,
      handshakeTimeout: limits.headerTimeoutMs,
      requestCert: tls.client !== "off",
      rejectUnauthorized: false,
      ...(alpn === undefined ? {} : { ALPNProtocols: [alpn] }),
    });
    // A connection above a limit is closed before anything reads from it.
    server.prependListener("connection", (socket: Socket) => this.#admit(socket));
    server.on("tlsClientError", (_, socket) => this.#reject(socket, "tls"));
    return server.on("secureConnection", (socket) => this.#onSecure(socket));
  }

  #watch(access: ListenerAccess, credentials: ListenerCredentials): CredentialFiles {
    const files = new CredentialFiles(access, credentials, {
      onReadResult: this.#events.onFiles,
      onChange: (renewed) => this.#useTls(renewed),
    });
    files.start();
    return files;
  }

  #useTls({ tls }: ListenerCredentials): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(tls);
  }

  /** Node calls this. What it throws would end the process, so it costs the connection instead. */
  #admit(socket: Socket): boolean {
    socket.on("error", () => {}); // clients reset connections that they need no more
    try {
      this.#limiter.onConnection(socket);
      if (socket.destroyed) return false;
      if (this.#isAllowed(peerOf(socket))) {
        this.#open.add(socket);
        socket.once("close", () => this.#open.delete(socket));
        return true;
      }
      this.#reject(socket, "not_allowed");
    } catch (error) {
      this.#events.onError(error, null);
      socket.destroy();
    }
    return false;
  }

  #onSecure(socket: TLSSocket): void {
    socket.on("error", () => {});
    if (this.#access.tls?.client === "required" && !hasVerifiedCertificate(socket)) this.#reject(socket, "certificate");
    else this.#converse(socket);
  }

  #converse(socket: Socket): void {
    const reject = (reason: string): void => this.#reject(socket, reason);
    try {
      this.#protocol.converse({ socket, peer: peerOf(socket), limits: this.#access.limits, reject });
    } catch (error) {
      this.#events.onError(error, null);
      socket.destroy();
    }
  }

  #reject(socket: Socket, reason: string): void {
    this.#events.onRejected({ address: peerOf(socket), status: null, reason, request: null });
    socket.destroy();
  }
}

function peerOf({ remoteAddress }: Socket): string {
  return unmapped(remoteAddress ?? "");
}

/** Nothing that these protocols ask for changes anything, so a list for calls that do restricts nobody. */
function allowedBy({ allow, allowFor }: ListenerAccess): (address: string) => boolean {
  return allow === null || allowFor === "unsafe" ? () => true : allowlistOf(allow);
}
