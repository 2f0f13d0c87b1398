import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configurationOf } from "../profile.js";
/** The program under test, as a separate process. */
export class Child {
    #process;
    #folder;
    #log = "";
    #end = null;
    constructor(options) {
        this.#folder = mkdtempSync(join(tmpdir(), "rolecall-campaign-"));
        const file = join(this.#folder, "rolecall.yaml");
        writeFileSync(file, configurationFile(options.clusters, configurationOf(options.profile, options.workers)));
        this.#process = spawn(process.execPath, [options.dist, "serve", "--config", file], {
            stdio: ["ignore", "ignore", "pipe"],
        });
        this.#process.stderr?.on("data", (bytes) => {
            this.#log = (this.#log + bytes.toString()).slice(-200_000);
        });
        this.#process.on("close", (code, signal) => (this.#end = String(code ?? signal)));
    }
    /** How it ended; null while it runs. */
    get end() {
        return this.#end;
    }
    /** The last lines of its log. */
    log(lines) {
        return this.#log.trimEnd().split("\n").slice(-lines);
    }
    /** The ports of its listeners: health checks, then operators' pages. Waits until both are open. */
    async ports() {
        for (let waited = 0; waited < 30_000 && this.#end === null; waited += 20) {
            const open = this.#log
                .split("\n")
                .filter((line) => line.includes('"msg":"listening"'))
                .map((line) => JSON.parse(line));
            const health = open.find(({ dialect }) => dialect === "node");
            const admin = open.find(({ dialect }) => dialect === "admin");
            if (health !== undefined && admin !== undefined)
                return { health: health.port, admin: admin.port };
            await new Promise((resolve) => void setTimeout(resolve, 20));
        }
        throw new Error(`Cannot start rolecall: it must listen within 30 s, got ${this.#end ?? "nothing"}: ${this.#log.slice(-2_000)}`);
    }
    /** Ends it. */
    async stop() {
        if (this.#end === null) {
            const ended = new Promise((resolve) => void this.#process.once("close", resolve));
            this.#process.kill("SIGTERM");
            const hard = setTimeout(() => void this.#process.kill("SIGKILL"), 5_000);
            await ended;
            clearTimeout(hard);
        }
        rmSync(this.#folder, { recursive: true, force: true });
    }
}
function configurationFile(clusters, rest) {
    const lines = clusters.flatMap(({ name, scope, isDiscovered, nodes }) => [
        `  - name: ${name}`,
        `    scope: ${scope}`,
        ...(isDiscovered
            ? ["    discover:", ...nodes.map(({ api }) => `      - ${api}`)]
            : ["    nodes:", ...nodes.flatMap((node) => [`      - name: ${node.name}`, `        api: ${node.api}`])]),
    ]);
    const listen = ["listen:", '  - { port: 0, cluster: "*" }', "  - { port: 0, dialect: admin }"];
    return `${["clusters:", ...lines, ...listen].join("\n")}\n${rest}`;
}
//# sourceMappingURL=child.js.map