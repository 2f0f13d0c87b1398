import { createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { listenDuringTest } from "./listen.ts";

/** What a fake companion does with a connection. */
export type CompanionBehaviour =
  | "pgbouncer"
  | "full pgbouncer"
  | "ssh"
  | "memcached"
  | "http 200"
  | "http 503"
  | "silent"
  | "resets"
  | "closes"
  | "dribbles"
  | "garbage"
  | "endless"
  | "endless line"
  | "in pieces";

/** A program beside a node, on a free port. The test changes what it does with the next connection. */
export class FakeCompanion {
  readonly port: number;
  /** What the connections sent, oldest first. */
  readonly received: string[] = [];
  behaviour: CompanionBehaviour;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async start(context: TestContext, behaviour: CompanionBehaviour): Promise<FakeCompanion> {
    const server = createServer();
    const companion = new FakeCompanion(server, await listenDuringTest(context, server), behaviour);
    context.after(() => companion.stop());
    return companion;
  }

  private constructor(server: Server, port: number, behaviour: CompanionBehaviour) {
    this.#server = server;
    this.port = port;
    this.behaviour = behaviour;
    server.on("connection", (socket) => this.#accept(socket));
  }

  /** How many connections are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** Refuses connections from now on. */
  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) await new Promise((resolve) => void this.#server.close(resolve));
  }

  /** Listens again, on the same port. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(this.port, "127.0.0.1", resolve));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let dribble: NodeJS.Timeout | undefined;
    socket.on("error", () => {}); // it ends with "close"
    socket.once("close", () => {
      clearInterval(dribble);
      this.#sockets.delete(socket);
    });
    if (this.behaviour === "resets") socket.resetAndDestroy();
    else if (this.behaviour === "closes") socket.resume().end();
    else
      socket.once("data", (chunk) => {
        this.received.push(chunk.toString("latin1"));
        const [more] = this.#answer(socket);
        if (more !== undefined) dribble = setInterval(more, 5);
      });
  }

  /** @returns what to do again and again */
  #answer(socket: Socket): readonly (() => void)[] {
    switch (this.behaviour) {
      case "pgbouncer":
        socket.write("N");
        return [];
      case "full pgbouncer":
        socket.end("E\0\0\0\u0030SFATAL\0C08P01\0Mno more connections allowed\0\0");
        return [];
      case "ssh":
        socket.write("SSH-2.0-OpenSSH_9.2\r\n");
        return [];
      case "memcached":
        socket.write("ERROR\r\n");
        return [];
      case "http 200":
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        return [];
      case "http 503":
        socket.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
        return [];
      case "garbage":
        socket.write("\u0000\u0001SSH-2.0-x\r\n");
        return [];
      case "dribbles":
        return [() => void socket.write(this.received.at(-1)?.startsWith("GET") === true ? "H" : "")];
      case "in pieces": {
        const rest = Array.from("HTTP/1.0 204 \r\n");
        return [() => void socket.write(rest.shift() ?? "x")];
      }
      case "endless line":
        return [() => void socket.write("x".repeat(64 * 1024))];
      case "endless": {
        socket.write("HTTP/1.1 200 OK\r\n");
        return [() => void socket.write("x".repeat(64 * 1024))];
      }
      case "silent":
      case "resets":
      case "closes":
        return [];
    }
  }
}
