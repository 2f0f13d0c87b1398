import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Answer } from "./answer.ts";
import { type SimulatedRequest, readRequest } from "./request.ts";
import { garbage } from "./garbage.ts";
import type { ApiFault } from "../model/node.ts";

/** The most requests one node holds unanswered while it hangs, is frozen or slow; a further one is cut off. */
const heldMax = 1000;

/** What a node's server needs to know. */
export interface ServerOptions {
  readonly host: string;
  /** HTTP/1.1 with connections kept alive, instead of HTTP/1.0 and closing as real nodes do. */
  readonly keepAlive: boolean;
  /** How the API misbehaves just now; `hang` also for a frozen node. */
  readonly fault: () => ApiFault;
  readonly answer: (asked: SimulatedRequest) => Promise<Answer>;
}

/** The listening socket of one node. It opens and closes as the node lives and dies, always on the same port. */
export class NodeServer {
  readonly #options: ServerOptions;
  readonly #held = new Set<() => void>();
  readonly #sockets = new Set<Socket>();
  readonly #controlling = new Set<Socket>();
  readonly #delays = new Set<NodeJS.Timeout>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** The port it listens on, or did before it was closed. */
  get port(): number {
    return this.#port;
  }

  /** Starts to listen, the first time on `port` (0: any free one), later on the port it had. Rejects when the port is taken. */
  async open(port: number): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 30_000 }, (request, response) => {
      // A client that goes away in the middle is everyday; there is nobody left to tell.
      this.#serve(request, response).catch(() => response.destroy());
    });
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.#server = server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host: this.#options.host, port: this.#port === 0 ? port : this.#port }, resolve);
      });
    } catch (error) {
      this.#server = undefined;
      throw error;
    }
    const address = server.address();
    if (typeof address === "object" && address !== null) this.#port = address.port;
  }

  /** Dies: from now on connections are refused, and those that are open are reset, but for one that is just asking for this. */
  halt(): void {
    this.#server?.close();
    this.#server = undefined;
    for (const delay of this.#delays) clearTimeout(delay);
    this.#delays.clear();
    this.#held.clear();
    for (const socket of this.#sockets) {
      if (this.#controlling.has(socket)) continue;
      // A reset of what is shutting down is refused below Node, which then waits for ever for it to be closed when the process ends.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  /** Stops for good; resolves when the port is closed. */
  async close(): Promise<void> {
    const server = this.#server;
    const closed = new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else server.once("close", resolve);
    });
    this.halt();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Answers the requests that were held while the node hung or was frozen. */
  thaw(): void {
    const held = [...this.#held];
    this.#held.clear();
    for (const go of held) go();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = await readRequest(request);
    if (asked.head === "sim") {
      await this.#obey(request.socket, response, asked);
      return;
    }
    await this.#suffer(request);
    const fault = this.#options.fault();
    if (fault.kind === "garbage") garbage(fault.style, response);
    else this.#write(response, await this.#options.answer(asked), asked.method);
  }

  async #obey(socket: Socket, response: ServerResponse, asked: SimulatedRequest): Promise<void> {
    this.#controlling.add(socket);
    try {
      this.#write(response, await this.#options.answer(asked), asked.method);
    } finally {
      this.#controlling.delete(socket);
    }
    if (this.#server === undefined) socket.destroySoon();
  }

  #write(response: ServerResponse, answer: Answer, method: string): void {
    if (this.#options.keepAlive) keep(response, answer, method === "HEAD");
    else close(response, answer);
  }

  /** Waits as long as the node's fault makes a client wait. */
  async #suffer(request: IncomingMessage): Promise<void> {
    const fault = this.#options.fault();
    this.#bound();
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
      this.#bound();
      await new Promise<void>((resolve) => {
        this.#held.add(resolve);
        request.socket.once("close", () => {
          this.#held.delete(resolve);
        });
      });
    }
  }

  #bound(): void {
    const waiting = this.#held.size + this.#delays.size;
    if (waiting >= heldMax)
      throw new Error(`Cannot hold a request as at most ${String(heldMax)} may wait: ${String(waiting)} do`);
  }
}

/** Writes the reply as real nodes do: HTTP/1.0, a bare one without any header, and the connection closed after it. */
function close(response: ServerResponse, answer: Answer): void {
  const line = `HTTP/1.0 ${String(answer.status)} ${STATUS_CODES[answer.status] ?? ""}\r\n`;
  const headers = `Server: BaseHTTP/0.6 Python/3.11.2\r\nDate: ${new Date().toUTCString()}\r\n`;
  const rest = answer.kind === "bare" ? "\r\n" : `${headers}Content-Type: ${answer.contentType}\r\n\r\n${answer.body}`;
  response.socket?.write(line + rest);
  response.socket?.destroySoon();
}

function keep(response: ServerResponse, answer: Answer, isHead: boolean): void {
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
