/**
 * A program that a test starts. Its output is written to a file. It is stopped by its pid, and never outlives the test
 * process.
 */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { reapAtExit, signal } from "./reaper.js";
import { until } from "../../fake/until.js";
export class Child {
    #program;
    #process;
    constructor(program) {
        this.#program = program;
        const [command, ...args] = program.asPostgres === true ? asPostgres(program.command) : program.command;
        const log = openSync(this.#logFile, "a");
        this.#process = spawn(command, args, { cwd: program.folder, env: environment, stdio: ["ignore", log, log] });
        this.#process.on("error", () => { }); // a missing command shows as "ended" and in the evidence
        closeSync(log);
        reapAtExit(() => (this.isRunning && this.pid !== undefined ? [this.pid] : []));
    }
    get pid() {
        return this.#process.pid;
    }
    get isRunning() {
        return this.pid !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
    }
    /** The exit code; `null` while it runs, and when a signal ended it. */
    get exitCode() {
        return this.#process.exitCode;
    }
    /** The end of what it wrote, for messages. */
    get tail() {
        const lines = readFileSync(this.#logFile, "utf8").trimEnd().split("\n");
        return [`--- ${this.#program.name} (${this.isRunning ? "running" : "ended"}):`, ...lines.slice(-15)].join("\n");
    }
    /**
     * Sends a signal and waits for the exit. Sends SIGKILL if the program still runs after `seconds`. A frozen child is
     * thawed first.
     */
    async stop(name = "SIGTERM", seconds = 15) {
        if (!this.isRunning || this.pid === undefined)
            return;
        signal(this.pid, name);
        signal(this.pid, "SIGCONT");
        const ended = async () => (this.isRunning ? undefined : true);
        try {
            await until({ what: `end of ${this.#program.name}`, seconds }, ended);
        }
        catch {
            signal(this.pid, "SIGKILL");
            await until({ what: `end of ${this.#program.name} after SIGKILL`, seconds: 5 }, ended);
        }
    }
    get #logFile() {
        return join(this.#program.folder, `${this.#program.name}.log`);
    }
}
/** Gives a file or folder to postgres where the tests run as root. */
export function giveToPostgres(path) {
    if (isRoot())
        execFileSync("chown", ["-R", "postgres:postgres", path]);
}
const environment = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    LANG: "C.UTF-8",
    PYTHONDONTWRITEBYTECODE: "1",
};
function asPostgres(command) {
    return isRoot() ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", ...command] : command;
}
function isRoot() {
    return process.getuid?.() === 0;
}
//# sourceMappingURL=child.js.map