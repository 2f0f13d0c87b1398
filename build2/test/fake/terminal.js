import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { until } from "./until.js";
/** The compiled program on a pseudo-terminal, which util-linux's `script` opens. */
export class FakeTerminal {
    #child;
    /** The file that names the terminal and the process. */
    #startFile;
    #ended;
    #output = "";
    constructor(argv, { rows, columns }, nodeArgs = []) {
        this.#startFile = join(mkdtempSync(join(tmpdir(), "rolecall-terminal-")), "start");
        const command = [process.execPath, ...nodeArgs, resolve("dist", "main.js"), ...argv].map((word) => `'${word}'`);
        const line = `stty rows ${rows} cols ${columns}; (tty; echo $$) > '${this.#startFile}'; exec ${command.join(" ")}`;
        this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", line, "/dev/null"], {
            stdio: ["pipe", "pipe", "inherit"],
            env: { ...process.env, TERM: "xterm", SHELL: "/bin/sh" },
        });
        this.#child.stdout?.on("data", (chunk) => (this.#output += chunk.toString()));
        this.#ended = once(this.#child, "close");
    }
    /** Everything that the program has written, with its control sequences. */
    get output() {
        return this.#output;
    }
    /** The lines of the last complete picture, without colours. */
    get screen() {
        const end = this.#output.lastIndexOf("\u001b[J");
        const start = this.#output.lastIndexOf("\u001b[H", end);
        if (start < 0 || end < 0)
            return [];
        // oxlint-disable-next-line no-control-regex -- this matches control sequences on purpose
        const text = this.#output.slice(start, end).replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, "");
        return text.split("\r\n").map((line) => line.trimEnd());
    }
    /** Types keys. */
    press(keys) {
        this.#child.stdin?.write(keys);
    }
    /** Waits until the picture on the screen satisfies a condition, and returns it. */
    async shows(what, isShown) {
        await until({ what, evidence: () => this.screen.join("\n") }, () => isShown(this.screen));
        return this.screen;
    }
    /** Changes the size, as a window manager does: the program receives SIGWINCH. */
    async resize({ rows, columns }) {
        const argv = ["-F", this.#start.tty, "rows", String(rows), "cols", String(columns)];
        await once(spawn("stty", argv, { stdio: "ignore" }), "close");
    }
    /** Sends a signal to the program, not to `script`. */
    signal(name) {
        process.kill(Number(this.#start.pid), name);
    }
    /** Resolves to the exit code when the program has ended. */
    async ended() {
        await this.#ended;
        return this.#child.exitCode;
    }
    get #start() {
        const [tty = "", pid = ""] = readFileSync(this.#startFile, "utf8").split("\n");
        return { tty, pid };
    }
}
//# sourceMappingURL=terminal.js.map