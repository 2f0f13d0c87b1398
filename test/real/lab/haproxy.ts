/** HAProxy in front of three PostgreSQL, with rolecall as the one it asks. */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Child } from "./child.ts";
import type { Cluster } from "./cluster.ts";
import { ports, requireFree } from "./ports.ts";
import { until } from "./wait.ts";

export class Haproxy {
  readonly #child: Child;
  readonly #socket: string;

  /** Starts it and waits (10 s) until every server was checked in both pools: before its first check HAProxy takes a server for up. */
  static async start(cluster: Cluster): Promise<Haproxy> {
    await requireFree([ports.haproxyWrite, ports.haproxyRead]);
    const socket = join(cluster.folder, "haproxy.sock");
    const file = join(cluster.folder, "haproxy.cfg");
    writeFileSync(file, configuration(cluster, socket));
    const haproxy = new Haproxy(new Child({ name: "haproxy", command: ["haproxy", "-db", "-f", file], folder: cluster.folder }), socket);
    try {
      await until({ what: "HAProxy with every server checked", seconds: 10, evidence: () => haproxy.#child.tail }, async () => {
        const servers = await haproxy.servers();
        return servers.length === 6 && servers.every(({ check }) => check !== "" && !check.startsWith("INI")) ? true : undefined;
      });
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

  /** Each server of each pool as `show stat` lists it: its status (`UP`, `DOWN`, …) and how its last check ended (`L7OK`, `L7STS`, …). */
  async servers(): Promise<readonly { readonly pool: string; readonly node: string; readonly status: string; readonly check: string }[]> {
    const [head = "", ...rows] = (await this.#command("show stat")).trim().split("\n");
    const columns = head.replace(/^# /, "").split(",");
    const cell = (row: string, column: string): string => row.split(",")[columns.indexOf(column)] ?? "";
    return rows
      .map((row) => ({
        pool: cell(row, "pxname"),
        node: cell(row, "svname"),
        status: cell(row, "status"),
        check: cell(row, "check_status"),
      }))
      .filter(({ node }) => node !== "FRONTEND" && node !== "BACKEND");
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

/** `rise 2 fall 1` on the write pool: the old primary leaves before the new one enters, so no instant routes to both. */
function configuration({ nodes }: Cluster, socket: string): string {
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
