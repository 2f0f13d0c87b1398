/**
 * rolecall over exporters alone, with its own exporter dialect beside it: the built program, a file, a signal at the
 * end.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask } from "./ask.js";
import { Child } from "./child.js";
import { ports, requireFree } from "./ports.js";
import { until } from "../../fake/until.js";
const program = fileURLToPath(new URL("../../../../dist/main.js", import.meta.url)); // from build/test/real/lab
export class Edge {
    #child;
    /** Starts it and waits (15 s) until it is ready. */
    static async start(pair) {
        await requireFree([ports.rolecall, ports.plainDialect, ports.plainDialect + 1, ports.plainDialect + 2]);
        const nodes = pair.nodes.map(({ name, port, exporterPort }) => ({
            name,
            exporter: `http://127.0.0.1:${exporterPort}`,
            database: `127.0.0.1:${port}`,
        }));
        const dialect = pair.nodes.map(({ name }, at) => ({
            dialect: "exporter",
            port: ports.plainDialect + 1 + at,
            node: name,
        }));
        const listen = [
            { port: ports.rolecall, whole_cluster: true },
            { dialect: "exporter", port: ports.plainDialect },
            ...dialect,
        ];
        const file = join(pair.folder, "rolecall.yaml");
        writeFileSync(file, JSON.stringify({ clusters: [{ name: "plain", nodes }], listen })); // JSON is YAML
        const command = [process.execPath, program, "serve", "--config", file];
        const edge = new Edge(new Child({ name: "rolecall", command: [...command], folder: pair.folder }));
        await until({ what: "ready rolecall", seconds: 15, evidence: () => edge.tail }, async () => (await ask({ port: ports.rolecall, path: "/readyz" })).status === 200 ? true : undefined);
        return edge;
    }
    constructor(child) {
        this.#child = child;
    }
    /** A check of one node, or of the whole cluster where `node` is empty. */
    ask(node, route) {
        return ask({ port: ports.rolecall, path: node === "" ? route : `/nodes/${node}${route}` });
    }
    /** Waits until a check has this status. */
    async becomes(node, route, status, seconds = 15) {
        let last;
        const evidence = () => `${last?.status} ${last?.reason} ${last?.body}\n${this.tail}`;
        await until({ what: `${status} of ${node}${route}`, seconds, evidence }, async () => {
            last = await this.ask(node, route);
            return last.status === status ? true : undefined;
        });
    }
    get tail() {
        return this.#child.tail;
    }
    async stop() {
        await this.#child.stop("SIGINT");
    }
}
//# sourceMappingURL=edge.js.map