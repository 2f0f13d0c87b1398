import { readFileSync } from "node:fs";
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
  initialWeight: number;
  /** With one that was given it, rolecall has added it if the number is of its own. */
  id: number;
  isIdForced: boolean;
  host: string;
  dbPort: number;
  sessions: number;
}

/** How the fake misbehaves. */
export type HaproxyFault = "silent" | "half" | "garbage" | "closes" | "operator" | "stopping" | "endless" | null;

const columns =
  "be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight " +
  "srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state " +
  "srv_f_forced_id srv_port";

/** The columns of `show stat`, and the rows of a server and of its backend. */
const statLines = readFileSync("test/spec/audit/show-stat-2.6.csv", "utf8").split("\n");
const [statColumns = "", statRow = ""] = statLines;
const statBackend = statLines.find((line) => line.includes(",BACKEND,")) ?? "";
const statNames = statColumns.replace("# ", "").split(",");

const fresh: FakeServer = {
  operational: 0,
  admin: 0,
  checkHealth: 0,
  checkState: 6,
  weight: 100,
  initialWeight: 100,
  id: 1,
  isIdForced: false,
  host: "127.0.0.1",
  dbPort: 5432,
  sessions: 0,
};

/** A Runtime API in memory, with the answers of HAProxy 2.6. */
export class FakeHaproxy {
  /** The commands that change something, in order. */
  readonly commands: string[] = [];
  readonly servers = new Map<string, FakeServer>();
  fault: HaproxyFault = null;
  pid = 100;
  connections = 0;
  /** How often the audit has looked. */
  audits = 0;
  port = 0;
  version = "2.6.12";
  /** The answer to `add server`, in place of the addition. */
  addRefusal: string | null = null;
  readonly #open = new Set<Socket>();

  constructor(servers: readonly string[]) {
    for (const [at, name] of servers.entries()) this.servers.set(name, { ...fresh, id: at + 1 });
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
      return `Name: HAProxy\nVersion: ${this.version}\nPid: ${this.pid}\nStopping: ${this.fault === "stopping" ? 1 : 0}\nStart_time_sec: 1\n`;
    const [, backend] = /^show servers state (\S+)$/.exec(line) ?? [];
    if (backend !== undefined) return this.#states(backend);
    const [, listed] = /^show stat (\S+) 4 -1$/.exec(line) ?? [];
    if (listed !== undefined) return this.#sessions(listed);
    const [, audited] = /^show stat (\S+) 6 -1$/.exec(line) ?? [];
    if (audited !== undefined) return this.#stat(audited);
    this.commands.push(line);
    return this.#change(line);
  }

  /** The words of 2.6.12 and 3.2.26. */
  #change(line: string): string {
    const [verb = "", , name = "", what, value = "", , port] = line.replace("shutdown sessions", "shutdown").split(" ");
    if (verb === "add") return this.#add(name, line);
    const server = this.servers.get(name);
    if (server === undefined) return "No such server.\n";
    if (verb === "enable") server.checkState = 6;
    if (verb === "del") {
      if (server.sessions > 0) return "Server still has connections attached to it, cannot remove it.\n";
      if ((server.admin & 1) === 0) return "Only servers in maintenance mode can be deleted.\n";
      this.servers.delete(name);
      return "Server deleted.\n";
    }
    if (what === "weight") server.weight = Number(value);
    if (what === "state") server.admin = { maint: 1, drain: 8, ready: 0 }[value] ?? server.admin;
    if (what === "addr") {
      Object.assign(server, { host: value, dbPort: Number(port) });
      return `IP changed from '127.0.0.1' to '${value}', port changed by 'stats socket command'\n`;
    }
    if (what === "health") {
      server.operational = value === "up" ? 2 : value === "down" ? 0 : 3;
      server.checkHealth = value === "down" ? 0 : 4;
    }
    return "";
  }

  #add(name: string, line: string): string {
    if (this.addRefusal !== null) return this.addRefusal;
    if (this.servers.has(name)) return "Already exists a server with the same name in backend.\n";
    const [, host = "", port, id] = /^add server \S+ \[?([^\]\s]+?)\]?:(\d+) id (\d+) check/.exec(line) ?? [];
    const added = { admin: 1, checkState: 2, weight: 1, initialWeight: 1, isIdForced: true };
    this.servers.set(name, { ...fresh, ...added, host, dbPort: Number(port), id: Number(id) });
    return "New server registered.\n";
  }

  #sessions(backend: string): string {
    const own = [...this.servers].filter(([name]) => name.startsWith(`${backend}/`));
    const rows = own.map(([name, { sessions }]) => `${backend},${name.slice(backend.length + 1)},0,0,${sessions},`);
    return `# pxname,svname,qcur,qmax,scur,\n${rows.join("\n")}\n`;
  }

  #stat(backend: string): string {
    this.audits += 1;
    const rows = [...this.servers].flatMap(([name, { operational, sessions, host, dbPort }]) => {
      const [pxname = "", svname = ""] = name.split("/");
      const status = operational === 2 ? "UP" : operational === 3 ? "NOLB" : "DOWN";
      const own = new Map(Object.entries({ pxname, svname, scur: `${sessions}`, status, addr: `${host}:${dbPort}` }));
      const cells = statRow.split(",").map((cell, at) => own.get(statNames[at] ?? "") ?? cell);
      return pxname === backend ? [cells.join(",")] : [];
    });
    return [statColumns, ...rows, statBackend.replace(/^[^,]*/, backend), ""].join("\n");
  }

  #states(backend: string): string {
    const own = [...this.servers].filter(([name]) => name.startsWith(`${backend}/`));
    if (own.length === 0) return "Can't find backend.\n";
    const rows = own.map(([name, one]) => {
      const server = name.slice(backend.length + 1);
      const { operational, admin, weight, initialWeight, checkHealth, checkState } = one;
      const state = `${operational} ${admin} ${weight} ${initialWeight} 1 8 2 ${checkHealth} ${checkState} 0`;
      return `2 ${backend} ${one.id} ${server} ${one.host} ${state} ${one.isIdForced ? 1 : 0} ${one.dbPort}`;
    });
    return `1\n# ${columns}\n${rows.join("\n")}\n`;
  }
}
