/** HAProxy in front of three PostgreSQL servers, with its checks answered by rolecall. */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Child } from "./child.ts";
import type { Cluster } from "./cluster.ts";
import { ports, requireFree } from "./ports.ts";
import { until } from "../../fake/until.ts";

export interface Server {
  readonly pool: string;
  readonly node: string;
  /** `UP`, `DOWN`, `NOLB` (drained), … */
  readonly status: string;
  /** How its last check ended: `L7OK`, `L7OKC` (a 404 that drains), `L7STS`, `L4CON`, … */
  readonly check: string;
  /** The status code that its last check was answered with; 0 where there was none. */
  readonly code: number;
  /** What HAProxy keeps of the last answer: the reason phrase among it. */
  readonly lastCheck: string;
}

export class Haproxy {
  readonly #child: Child;
  readonly #socket: string;

  /** Starts it before a cluster, in its folder. @param configure gives the configuration, with the path of its stats socket */
  static start(cluster: Cluster, configure = plainConfiguration): Promise<Haproxy> {
    return Haproxy.run(cluster.folder, (socket) => configure(cluster, socket));
  }

  /**
   * Starts it and waits (10 s) until every server was checked in its pool: before its first check HAProxy takes a
   * server for up.
   * @param configure gives the configuration, with the path of its stats socket
   */
  static async run(folder: string, configure: (socket: string) => string): Promise<Haproxy> {
    const socket = join(folder, "haproxy.sock");
    const file = join(folder, "haproxy.cfg");
    const configuration = configure(socket);
    const count = (pattern: RegExp): number => configuration.match(pattern)?.length ?? 0;
    await requireFree(Array.from(configuration.matchAll(/^ *bind 127\.0\.0\.1:(\d+)/gm), ([, port]) => Number(port)));
    writeFileSync(file, configuration);
    const haproxy = new Haproxy(
      new Child({ name: "haproxy", command: ["haproxy", "-db", "-f", file], folder }),
      socket,
    );
    try {
      await until(
        { what: "HAProxy with every server checked", seconds: 10, evidence: () => haproxy.#child.tail },
        async () => {
          const servers = await haproxy.servers();
          return servers.length === count(/^ *server /gm) &&
            servers.every(({ check }) => check !== "" && !check.startsWith("INI"))
            ? true
            : undefined;
        },
      );
    } catch (error) {
      await haproxy.stop();
      throw error;
    }
    return haproxy;
  }

  private constructor(child: Child, socket: string) {
    this.#child = child;
    this.#socket = socket;
  }

  /** Each server of each pool, as `show stat` lists it. */
  async servers(): Promise<readonly Server[]> {
    const [head = "", ...rows] = (await this.#command("show stat")).trim().split("\n");
    const columns = head.replace(/^# /, "").split(",");
    const cell = (row: string, column: string): string => row.split(",")[columns.indexOf(column)] ?? "";
    return rows
      .map((row) => ({
        pool: cell(row, "pxname"),
        node: cell(row, "svname"),
        status: cell(row, "status"),
        check: cell(row, "check_status"),
        code: Number(cell(row, "check_code")),
        lastCheck: cell(row, "last_chk"),
      }))
      .filter(({ node }) => node !== "FRONTEND" && node !== "BACKEND");
  }

  /** One server, by `pool/server`. */
  async server(name: string): Promise<Server> {
    const servers = await this.servers();
    const found = servers.find(({ pool, node }) => `${pool}/${node}` === name);
    if (found === undefined)
      throw new Error(`Cannot find ${name} among ${servers.map(({ pool, node }) => `${pool}/${node}`).join(", ")}`);
    return found;
  }

  /** The end of its log. */
  get tail(): string {
    return this.#child.tail;
  }

  async stop(): Promise<void> {
    await this.#child.stop();
  }

  async #command(line: string): Promise<string> {
    const connection = connect(this.#socket);
    connection.setTimeout(2000, () => connection.destroy(new Error("HAProxy's socket is silent")));
    connection.end(`${line}\n`);
    return text(connection).catch(() => ""); // not there yet
  }
}

/**
 * `rise 2 fall 1` on the write pool: the old primary leaves before the new one enters, so no instant routes to both.
 */
function plainConfiguration({ nodes }: Cluster, socket: string): string {
  const pool = (name: string, port: number, route: string): string => `
listen ${name}
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk
  http-check send meth GET uri-lf /clusters/demo/nodes/%[srv_name]${route} ver HTTP/1.1 hdr Host rolecall
  http-check expect status 200
  default-server check addr 127.0.0.1 port ${ports.rolecall} inter 300ms rise 2 fall 1 on-marked-down shutdown-sessions
${nodes.map(({ name: node, databasePort }) => `  server ${node} 127.0.0.1:${databasePort}`).join("\n")}
`;
  return `global
  stats socket ${socket} mode 600 level user
defaults
  mode tcp
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 900ms
${pool("write", ports.haproxyWrite, "/primary")}${pool("read", ports.haproxyRead, "/replica?lag=1MB")}`;
}
