/** One database session that stays open: psql, fed line by line. It ends when its connection is cut. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { reapAtExit } from "./reaper.js";
export class Session {
    #psql;
    #lines;
    #ended;
    /**
     * Opens a session over 127.0.0.1, through a balancer's port or a database's. Whether it succeeded shows at the first
     * question.
     */
    constructor(port) {
        const address = ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-d", "postgres"];
        const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", PGCONNECT_TIMEOUT: "2" };
        this.#psql = spawn("psql", ["-X", "-A", "-t", "-q", ...address], { env });
        this.#psql.stderr.resume(); // why it was cut: the caller only needs to know that it was
        this.#psql.stdin.on("error", () => { });
        this.#lines = createInterface(this.#psql.stdout);
        this.#ended = new Promise((resolve) => {
            this.#psql.once("close", () => resolve(undefined));
            this.#psql.once("error", () => resolve(undefined));
        });
        reapAtExit(() => (this.#psql.exitCode === null && this.#psql.pid !== undefined ? [this.#psql.pid] : []));
    }
    /** The one row that a statement gives, within 3 s; undefined where the session is cut, or was never opened. */
    async ask(statement) {
        const line = new Promise((resolve) => this.#lines.once("line", resolve));
        this.#psql.stdin.write(`${statement};\n`);
        const patience = new AbortController();
        const deadline = setTimeout(() => patience.abort(), 3000);
        const late = new Promise((resolve) => patience.signal.addEventListener("abort", () => resolve(undefined)));
        const answer = await Promise.race([line, this.#ended, late]);
        clearTimeout(deadline);
        return answer;
    }
    async close() {
        this.#psql.kill();
        await this.#ended;
    }
}
//# sourceMappingURL=session.js.map