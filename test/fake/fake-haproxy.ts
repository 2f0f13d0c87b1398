import { createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { listenDuringTest } from "./listen.ts";

/** A server as `show servers state` lists it. */
export interface FakeServer {
  operational: 0 | 1 | 2 | 3;
  admin: number;
  checkHealth: number;
  checkState: number;
  weight: number;
}

/** How the fake misbehaves. */
export type HaproxyFault = "silent" | "half" | "garbage" | "closes" | "operator" | "stopping" | "endless" | null;

const columns =
  "be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight " +
  "srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state";

/** A Runtime API in memory, with the answers of HAProxy 2.6. */
export class FakeHaproxy {
  /** The commands that change something, in order. */
  readonly commands: string[] = [];
  readonly servers = new Map<string, FakeServer>();
  fault: HaproxyFault = null;
  pid = 100;
  connections = 0;
  port = 0;
  readonly #open = new Set<Socket>();

  constructor(servers: readonly string[]) {
    for (const name of servers)
      this.servers.set(name, { operational: 0, admin: 0, checkHealth: 0, checkState: 6, weight: 100 });
  }

  /** Listens until the test is over. */
  async listen(context: TestContext): Promise<void> {
    this.port = await listenDuringTest(context, this.server());
    context.after(() => this.#open.forEach((socket) => socket.destroy()));
  }

  /** A server that is not listening yet. */
  server(): Server {
    return createServer((socket) => this.#serve(socket));
  }

  /** A server, by `backend/server`. */
  at(name: string): FakeServer {
    const found = this.servers.get(name);
    if (found === undefined) throw new Error(`the fake must have ${name}`);
    return found;
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    this.#open.add(socket);
    socket.on("close", () => this.#open.delete(socket)).on("error", () => {});
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      received += chunk;
      const lines = received.split("\n");
      received = lines.pop() ?? "";
      for (const line of lines) this.#answer(socket, line);
    });
  }

  #answer(socket: Socket, line: string): void {
    switch (this.fault) {
      case "silent":
        return;
      case "half":
        socket.write("Name: HAPr");
        return;
      case "garbage":
        socket.write("HTTP/1.1 400 Bad Request\r\n\r\n\n> what\n> is\n> this\n> ");
        return;
      case "endless":
        socket.write("x".repeat(400_000));
        return;
      case "closes":
        socket.end();
        return;
      case null:
      case "operator":
      case "stopping":
        socket.write(`${line === "prompt" ? "" : `${this.#textFor(line)}\n`}\n> `);
    }
  }

  #textFor(line: string): string {
    if (line === "show cli level") return `${this.fault === "operator" ? "operator" : "admin"}\n`;
    if (line === "show info")
      return `Name: HAProxy\nVersion: 2.6.12\nPid: ${this.pid}\nStopping: ${this.fault === "stopping" ? 1 : 0}\nStart_time_sec: 1\n`;
    const [, backend] = /^show servers state (\S+)$/.exec(line) ?? [];
    if (backend !== undefined) return this.#states(backend);
    this.commands.push(line);
    const [, name = "", what, value] = /^set server (\S+) (health|weight) (\S+)$/.exec(line) ?? [];
    const server = this.servers.get(name || line.replace("shutdown sessions server ", ""));
    if (server === undefined) return "No such server.\n";
    if (what === "weight") server.weight = Number(value);
    if (what === "health") {
      server.operational = value === "up" ? 2 : value === "down" ? 0 : 3;
      server.checkHealth = value === "down" ? 0 : 4;
    }
    return "";
  }

  #states(backend: string): string {
    const own = [...this.servers].filter(([name]) => name.startsWith(`${backend}/`));
    if (own.length === 0) return "Can't find backend.\n";
    const rows = own.map(([name, { operational, admin, checkHealth, checkState, weight }], at) => {
      const server = name.slice(backend.length + 1);
      return `2 ${backend} ${at + 1} ${server} 127.0.0.1 ${operational} ${admin} ${weight} 100 1 8 2 ${checkHealth} ${checkState} 0`;
    });
    return `1\n# ${columns}\n${rows.join("\n")}\n`;
  }
}
