/**
 * A primary and a streaming standby without any cluster manager, each with an exporter: what an exporter is the only
 * source of.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { ask } from "./ask.js";
import { Child, giveToPostgres } from "./child.js";
import { postgresBin } from "./patroni.js";
import { ports, requireFree } from "./ports.js";
import { psql } from "./psql.js";
import { removeAtExit } from "./reaper.js";
import { until } from "../../fake/until.js";
/** Debian's postgres_exporter. */
export const postgresExporter = "/usr/bin/prometheus-postgres-exporter";
export const startPostgresExporter = (databasePort, exporterPort) => [
    "/usr/bin/env",
    `DATA_SOURCE_NAME=postgresql://postgres@127.0.0.1:${databasePort}/postgres?sslmode=disable`,
    postgresExporter,
    `--web.listen-address=127.0.0.1:${exporterPort}`,
];
/** A real pg_exporter: named by PG_EXPORTER, or found on PATH (newer Debians have it in package pg-exporter). */
export function findPgExporter() {
    const named = process.env["PG_EXPORTER"];
    const candidates = [
        ...(named === undefined ? [] : [named]),
        ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "pg_exporter")),
    ];
    return candidates.find((file) => existsSync(file));
}
/**
 * The package holds its collectors under /etc of where its program lies under /usr/bin, also when it is only unpacked
 * somewhere.
 */
export function startPgExporter(command) {
    const collectors = join(dirname(command), "../../etc/pg_exporter/pg_exporter.yml");
    return (databasePort, exporterPort) => [
        command,
        ...(existsSync(collectors) ? [`--config=${collectors}`] : []),
        `--url=postgres://postgres@127.0.0.1:${databasePort}/postgres?sslmode=disable`,
        `--web.listen-address=127.0.0.1:${exporterPort}`,
        "--auto-discovery=false",
    ];
}
export class PlainPair {
    folder = mkdtempSync(join(tmpdir(), "rolecall-plain-"));
    nodes;
    #exporters;
    /** Starts everything and waits until the standby streams. */
    static async start(exporter) {
        await requireFree([0, 1].flatMap((n) => [ports.plainDatabase + n, ports.plainExporter + n]));
        const pair = new PlainPair(exporter);
        try {
            await until({ what: "streaming standby", seconds: 30, evidence: () => pair.tails }, async () => (await psql(ports.plainDatabase, "select count(*) from pg_stat_replication where state = 'streaming'")) === "1"
                ? true
                : undefined);
            for (const { exporterPort } of pair.nodes)
                await until({ what: `exporter on port ${exporterPort}`, seconds: 15, evidence: () => pair.tails }, async () => (await ask({ port: exporterPort, path: "/metrics" })).status === 200 ? true : undefined);
        }
        catch (error) {
            await pair.stop();
            throw error;
        }
        return pair;
    }
    constructor(exporter) {
        removeAtExit(this.folder);
        giveToPostgres(this.folder);
        this.#run("initdb", "-D", this.#data("pg1"), "-U", "postgres", "-A", "trust", "--no-sync");
        appendFileSync(join(this.#data("pg1"), "postgresql.conf"), `fsync = off\nunix_socket_directories = '${this.folder}'\n`);
        const first = { name: "pg1", port: ports.plainDatabase, exporterPort: ports.plainExporter };
        const second = { name: "pg2", port: ports.plainDatabase + 1, exporterPort: ports.plainExporter + 1 };
        const primary = { ...first, database: this.database("pg1") };
        this.#runUntilItWorks("pg_isready", "-h", "127.0.0.1", "-p", String(first.port));
        const from = `host=127.0.0.1 port=${first.port} user=postgres application_name=pg2`;
        this.#run("pg_basebackup", "-d", from, "-D", this.#data("pg2"), "-R", "--checkpoint=fast", "--no-sync");
        this.nodes = [primary, { ...second, database: this.database("pg2") }];
        this.#exporters = this.nodes.map(({ name, port, exporterPort }) => new Child({
            name: `exporter-${name}`,
            command: exporter(port, exporterPort),
            folder: this.folder,
            asPostgres: true,
        }));
    }
    /** Starts the database of a node, with settings beside those of its files. */
    database(name, ...settings) {
        const port = ports.plainDatabase + (name === "pg1" ? 0 : 1);
        const options = [`port=${port}`, "listen_addresses=127.0.0.1", ...settings].flatMap((setting) => ["-c", setting]);
        const command = [join(postgresBin, "postgres"), "-D", this.#data(name), ...options];
        return new Child({ name, command: [...command], folder: this.folder, asPostgres: true });
    }
    get tails() {
        return [
            ...this.nodes.map(({ database }) => database.tail),
            ...this.#exporters.map((exporter) => exporter.tail),
        ].join("\n");
    }
    async stop() {
        await Promise.all([...this.#exporters, ...this.nodes.map(({ database }) => database)].map((child) => child.stop("SIGINT")));
        rmSync(this.folder, { recursive: true, force: true });
    }
    #data(name) {
        return join(this.folder, `data-${name}`);
    }
    #run(program, ...args) {
        const command = [join(postgresBin, program), ...args];
        const asPostgres = process.getuid?.() === 0
            ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", ...command]
            : command;
        const [first = "", ...rest] = asPostgres;
        execFileSync(first, rest, { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"], timeout: 60_000 });
    }
    #runUntilItWorks(program, ...args) {
        for (let tried = 0;; tried += 1) {
            try {
                this.#run(program, ...args);
                return;
            }
            catch (error) {
                if (tried > 50)
                    throw error;
                execFileSync("sleep", ["0.2"]);
            }
        }
    }
}
//# sourceMappingURL=plain.js.map