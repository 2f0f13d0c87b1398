/** HAProxy in front of three PostgreSQL servers, with its checks answered by rolecall. */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Child } from "./child.js";
import { ports, requireFree } from "./ports.js";
import { until } from "../../fake/until.js";
export class Haproxy {
    #child;
    #socket;
    /**
     * Starts it and waits (10 s) until every server was checked in its pool: before its first check HAProxy takes a
     * server for up.
     * @param configure gives the configuration, with the path of its stats socket
     */
    static async start(cluster, configure = plainConfiguration) {
        const socket = join(cluster.folder, "haproxy.sock");
        const file = join(cluster.folder, "haproxy.cfg");
        const configuration = configure(cluster, socket);
        const count = (pattern) => configuration.match(pattern)?.length ?? 0;
        await requireFree(Array.from(configuration.matchAll(/^ *bind 127\.0\.0\.1:(\d+)/gm), ([, port]) => Number(port)));
        writeFileSync(file, configuration);
        const haproxy = new Haproxy(new Child({ name: "haproxy", command: ["haproxy", "-db", "-f", file], folder: cluster.folder }), socket);
        try {
            await until({ what: "HAProxy with every server checked", seconds: 10, evidence: () => haproxy.#child.tail }, async () => {
                const servers = await haproxy.servers();
                return servers.length === count(/^ *server /gm) &&
                    servers.every(({ check }) => check !== "" && !check.startsWith("INI"))
                    ? true
                    : undefined;
            });
        }
        catch (error) {
            await haproxy.stop();
            throw error;
        }
        return haproxy;
    }
    constructor(child, socket) {
        this.#child = child;
        this.#socket = socket;
    }
    /** Each server of each pool, as `show stat` lists it. */
    async servers() {
        const [head = "", ...rows] = (await this.#command("show stat")).trim().split("\n");
        const columns = head.replace(/^# /, "").split(",");
        const cell = (row, column) => row.split(",")[columns.indexOf(column)] ?? "";
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
    async server(name) {
        const servers = await this.servers();
        const found = servers.find(({ pool, node }) => `${pool}/${node}` === name);
        if (found === undefined)
            throw new Error(`Cannot find ${name} among ${servers.map(({ pool, node }) => `${pool}/${node}`).join(", ")}`);
        return found;
    }
    /** The end of its log. */
    get tail() {
        return this.#child.tail;
    }
    async stop() {
        await this.#child.stop();
    }
    async #command(line) {
        const connection = connect(this.#socket);
        connection.setTimeout(2000, () => connection.destroy(new Error("HAProxy's socket is silent")));
        connection.end(`${line}\n`);
        return text(connection).catch(() => ""); // not there yet
    }
}
/**
 * `rise 2 fall 1` on the write pool: the old primary leaves before the new one enters, so no instant routes to both.
 */
function plainConfiguration({ nodes }, socket) {
    const pool = (name, port, route) => `
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
//# sourceMappingURL=haproxy.js.map