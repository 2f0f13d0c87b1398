import { type IncomingMessage, STATUS_CODES, type Server, type ServerResponse, createServer } from "node:http";
import type { Socket } from "node:net";
import type { Answer } from "./answer.ts";
import { type SimulatedRequest, readRequest } from "./request.ts";
import type { ApiFault, GarbageStyle } from "../model/node.ts";

/** The most requests that one node holds while it hangs, is frozen or slow. A further one is disconnected. */
const heldMax = 1000;

/** The properties of a node's server. */
export interface ServerOptions {
  readonly host: string;
  /** Whether to serve HTTP/1.1 with keep-alive. Real nodes serve HTTP/1.0 and close after each response. */
  readonly keepAlive: boolean;
  /** Returns the API's present fault; `hang` for a frozen node too. */
  readonly fault: () => ApiFault;
  readonly answer: (request: SimulatedRequest) => Promise<Answer>;
}

/** A server goes down and comes up again, as its node dies and revives, until it has ended. */
type Life =
  /** `after` resolves when the server that was opening at that time is closed. */
  | { readonly kind: "down"; readonly after: Promise<void> }
  | { readonly kind: "opening"; readonly server: Server; readonly opened: Promise<void> }
  | { readonly kind: "up"; readonly server: Server }
  | { readonly kind: "ended"; readonly after: Promise<void> };

/** The HTTP server of one node. It can be closed and opened again on the same port, as the node dies and revives. */
export class NodeServer {
  readonly #options: ServerOptions;
  readonly #held = new Set<() => void>();
  readonly #sockets = new Set<Socket>();
  readonly #controlSockets = new Set<Socket>();
  readonly #delays = new Set<NodeJS.Timeout>();
  #life: Life = { kind: "down", after: Promise.resolve() };
  #port = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** The port, also while the server is closed. */
  get port(): number {
    return this.#port;
  }

  /**
   * Starts listening: the first time on `port` (0: any free one), later on the same port again. Rejects if it is
   * taken.
   * @returns whether it listens now: not if it was halted or closed meanwhile, or had been closed
   */
  async open(port: number): Promise<boolean> {
    if (this.#life.kind === "down") {
      const server = this.#createServer();
      const opened = this.#life.after.then(() => this.#listen(server, port));
      this.#life = { kind: "opening", server, opened };
    }
    if (this.#life.kind === "opening") await this.#life.opened;
    return this.#life.kind === "up";
  }

  #createServer(): Server {
    const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 30_000 }, (request, response) => {
      // A client may disconnect at any time. There is no one left to answer.
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    return server;
  }

  async #listen(server: Server, port: number): Promise<void> {
    const isMine = (): boolean => this.#life.kind === "opening" && this.#life.server === server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host: this.#options.host, port: this.#port === 0 ? port : this.#port }, resolve);
      });
    } catch (error) {
      if (isMine()) this.#life = { kind: "down", after: Promise.resolve() };
      throw error;
    }
    const address = server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
    if (isMine()) this.#life = { kind: "up", server };
    else await new Promise((resolve) => void server.close(resolve));
  }

  /**
   * Refuses connections and resets the open ones, except those with a request to `/sim` in progress: it may be the
   * cause.
   */
  halt(): void {
    this.#goDown();
    for (const delay of this.#delays) clearTimeout(delay);
    this.#delays.clear();
    this.#held.clear();
    for (const socket of this.#sockets) {
      if (this.#controlSockets.has(socket)) continue;
      // libuv rejects the reset of a socket that is shutting down, and Node would then wait forever for it to close
      // at exit.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  /** Closes the server, which does not open again. Resolves when the port is closed. */
  async close(): Promise<void> {
    const after = this.#closed();
    this.halt();
    for (const socket of this.#sockets) socket.destroy();
    this.#life = { kind: "ended", after };
    await after;
  }

  /** Resolves when what is open now, or opening, has been closed, with its connections. */
  #closed(): Promise<void> {
    const life = this.#life;
    if (life.kind === "up") return new Promise((resolve) => void life.server.once("close", resolve));
    // The caller of open() gets the error if the port could not be opened.
    return life.kind === "opening" ? life.opened.catch(() => {}) : life.after;
  }

  /** A server that is not open yet is closed once it is: Node tells nobody when it is closed before. */
  #goDown(): void {
    const life = this.#life;
    if (life.kind === "up") {
      life.server.close();
      this.#life = { kind: "down", after: Promise.resolve() };
    }
    if (life.kind === "opening") this.#life = { kind: "down", after: this.#closed() };
  }

  /** Answers the requests held while the node hung or was frozen. */
  release(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const answer of held) answer();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = await readRequest(request);
    if (parsed.head === "sim") {
      await this.#serveControl(request.socket, response, parsed);
      return;
    }
    await this.#delay(request);
    const fault = this.#options.fault();
    if (fault.kind === "garbage") garbage(fault.style, response);
    else this.#write(response, await this.#options.answer(parsed), parsed.method);
  }

  async #serveControl(socket: Socket, response: ServerResponse, request: SimulatedRequest): Promise<void> {
    this.#controlSockets.add(socket);
    try {
      this.#write(response, await this.#options.answer(request), request.method);
    } finally {
      this.#controlSockets.delete(socket);
    }
    if (this.#life.kind === "down" || this.#life.kind === "ended") socket.destroySoon();
  }

  #write(response: ServerResponse, answer: Answer, method: string): void {
    if (this.#options.keepAlive) writeKeepAlive(response, answer, method === "HEAD");
    else writeAndClose(response, answer);
  }

  /** Waits as long as the node's fault delays a response. */
  async #delay(request: IncomingMessage): Promise<void> {
    const fault = this.#options.fault();
    this.#checkLimit();
    if (fault.kind === "slow") {
      await new Promise<void>((resolve) => {
        const delay = setTimeout(() => {
          this.#delays.delete(delay);
          resolve();
        }, fault.ms);
        this.#delays.add(delay);
      });
    }
    while (this.#options.fault().kind === "hang") {
      this.#checkLimit();
      await new Promise<void>((resolve) => {
        this.#held.add(resolve);
        request.socket.once("close", () => {
          this.#held.delete(resolve);
        });
      });
    }
  }

  /** Throws if no further request may wait. */
  #checkLimit(): void {
    const waiting = this.#held.size + this.#delays.size;
    if (waiting >= heldMax)
      throw new Error(`Cannot hold a request: at most ${String(heldMax)} may wait, got ${String(waiting)}`);
  }
}

/** Writes a response as real nodes do: HTTP/1.0, a bare one without headers, and closes the connection. */
function writeAndClose(response: ServerResponse, answer: Answer): void {
  const line = `HTTP/1.0 ${String(answer.status)} ${STATUS_CODES[answer.status] ?? ""}\r\n`;
  const headers = `Server: BaseHTTP/0.6 Python/3.11.2\r\nDate: ${new Date().toUTCString()}\r\n`;
  const rest = answer.kind === "bare" ? "\r\n" : `${headers}Content-Type: ${answer.contentType}\r\n\r\n${answer.body}`;
  response.socket?.write(line + rest);
  response.socket?.destroySoon();
}

function writeKeepAlive(response: ServerResponse, answer: Answer, isHead: boolean): void {
  if (answer.kind === "bare") {
    response.writeHead(answer.status, { "Content-Length": 0 }).end();
    return;
  }
  response.writeHead(answer.status, {
    "Content-Type": answer.contentType,
    "Content-Length": Buffer.byteLength(answer.body),
  });
  response.end(isHead ? undefined : answer.body);
}

const hugeBytes = 16 * 1024 * 1024;

/**
 * Sends an invalid response: truncated JSON, bytes that are not HTTP, an HTML page with status 200, or a document of
 * 16 MiB.
 */
function garbage(style: GarbageStyle, response: ServerResponse): void {
  switch (style) {
    case "json":
      response.writeHead(200, { "Content-Type": "application/json", Connection: "close" });
      response.end(`{"state": "running", "role": "primary", "xlog": {"location": 1`);
      return;
    case "http":
      response.socket?.write("\u0016\u0003\u0001 this is not HTTP\r\n\r\n");
      response.socket?.destroySoon();
      return;
    case "html":
      response.writeHead(200, { "Content-Type": "text/html", Connection: "close" });
      response.end("<html><body><h1>It works!</h1></body></html>");
      return;
    case "huge":
      response.writeHead(200, { "Content-Type": "application/json", Connection: "close" });
      response.end(`{"state": "running", "role": "primary", "padding": "${"x".repeat(hugeBytes)}"}`);
      return;
  }
}
