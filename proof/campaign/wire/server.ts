import { createServer, type Server, type Socket } from "node:net";
import type { Evidence } from "./evidence.ts";
import type { Served } from "./served.ts";
import { kindOf, type WireFault } from "./mask.ts";
import type { Answer, Seat } from "./seat.ts";

const pollMs = 20;

/** One address: an HTTP/1.0 server like that of a node. It answers for the node at its seat. */
export class NodeServer {
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  readonly seat: Seat;
  readonly host: string;
  readonly #evidence: Evidence;
  readonly #now: () => number;

  constructor(seat: Seat, host: string, evidence: Evidence, now: () => number) {
    this.seat = seat;
    this.host = host;
    this.#evidence = evidence;
    this.#now = now;
  }

  get port(): number {
    return this.#port;
  }

  /** Opens the address, the same one as before when it was open before. */
  async open(): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => this.#take(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port: this.#port, host: this.host }, resolve);
    });
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("Cannot open node: it must have a port");
    this.#port = address.port;
    this.seat.node.port = address.port;
  }

  /** Closes the address: connections are refused, and open ones reset. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    if (server !== null) await new Promise<void>((resolve) => void server.close(() => resolve()));
  }

  /** Listens, or does not, according to the seat. */
  async follow(): Promise<void> {
    if (this.seat.isListening && this.#server === null) await this.open();
    else if (!this.seat.isListening && this.#server !== null) await this.close();
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket);
    let head = "";
    let isAnswering = false;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("data", (bytes) => {
      head += bytes.toString("latin1");
      if (isAnswering || !head.includes("\r\n\r\n")) return;
      isAnswering = true;
      const path = head.split(" ")[1] ?? "/";
      void this.#serve(socket, path);
    });
  }

  async #serve(socket: Socket, path: string): Promise<void> {
    const kind = kindOf(path);
    const { seat } = this;
    const served: Served = {
      node: seat.node.name,
      kind,
      path,
      arrivedMs: this.#now(),
      doneMs: null,
      isBroken: false,
      status: 0,
      document: null,
      isGenuine: seat.guest === null,
    };
    this.#evidence.note(served);
    socket.on("close", () => (served.isBroken ||= served.doneMs === null));
    const fault = seat.guest === null ? seat.mask.wire.get(kind) : undefined;
    while (!socket.destroyed && !seat.isMoving) await pause(pollMs);
    if (kind !== "status" && seat.waitsForDcs) await pause(seat.world.profile.retryMs);
    const answer = seat.answer(path, this.#now());
    await this.#send(socket, answer, { served, fault, isHead: false });
  }

  async #send(
    socket: Socket,
    answer: Answer,
    context: { served: Served; fault: WireFault | undefined; isHead: boolean },
  ): Promise<void> {
    const { served, fault } = context;
    switch (fault?.kind) {
      case "hang":
        while (!socket.destroyed && this.seat.mask.wire.get(served.kind) === fault) await pause(pollMs);
        return void socket.destroy();
      case "late":
        await pause(fault.ms);
        break;
      case "reset":
        return void socket.resetAndDestroy();
      case "garbage":
        return void socket.end("\u0000\u0001banana 200 OK\r\n\r\n{]");
      case "error":
        return void socket.end("HTTP/1.0 500 Internal Server Error\r\n\r\n<html>no</html>");
      case "drip":
      case "truncate":
      case undefined:
        break;
    }
    if (answer.document === null) return void socket.destroy();
    const body = answer.document === undefined ? "" : JSON.stringify(answer.document);
    const text = `HTTP/1.0 ${answer.status} ${answer.status === 200 ? "OK" : "Service Unavailable"}\r\nContent-Type: application/json\r\n\r\n${body}`;
    served.status = answer.status;
    if (fault?.kind === "truncate") return void socket.end(text.slice(0, text.length - Math.ceil(body.length / 2)));
    if (fault?.kind === "drip") await drip(socket, text, fault.ms);
    served.document = answer.document ?? null;
    const rest = fault?.kind === "drip" ? text.slice(-1) : text;
    if (socket.destroyed) return;
    socket.end(rest, () => (served.doneMs = this.#now()));
  }
}

/** Sends all but the last byte in pieces over a time. */
async function drip(socket: Socket, text: string, ms: number): Promise<void> {
  const pieces = 8;
  const size = Math.ceil((text.length - 1) / pieces);
  for (let at = 0; at < text.length - 1 && !socket.destroyed; at += size) {
    socket.write(text.slice(at, Math.min(at + size, text.length - 1)));
    await pause(ms / pieces);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
