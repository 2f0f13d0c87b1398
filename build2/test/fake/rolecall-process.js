import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./until.js";
/** rolecall as a child process. It is killed when the test ends. */
export class RolecallProcess {
    process;
    stdout = "";
    stderr = "";
    #exit;
    constructor(context, args, options = {}) {
        const main = join(import.meta.dirname, "..", "..", "src", "main.js");
        const [command = "", ...before] = options.command ?? [process.execPath];
        const { PATH, NODE_V8_COVERAGE } = process.env;
        const env = { PATH, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }), ...options.env };
        this.process = spawn(command, [...before, main, ...args], {
            env,
            stdio: ["ignore", "pipe", "pipe", ...(options.sockets ?? [])],
        });
        this.process.stdout?.on("data", (text) => (this.stdout += text.toString()));
        this.process.stderr?.on("data", (text) => (this.stderr += text.toString()));
        this.#exit = new Promise((resolve) => void this.process.on("close", (code, signal) => resolve(code ?? signal ?? "?")));
        context.after(() => void this.process.kill("SIGKILL"));
    }
    /** The exit code, or the signal that ended it. */
    get exit() {
        return this.#exit;
    }
    /** Waits until its stderr holds `text`, at least `times` times. Throws an Error if it ends first. */
    async waitForLog(text, times = 1) {
        let hasEnded = false;
        void this.#exit.then(() => (hasEnded = true));
        const wait = { what: `${String(text)} in the log`, seconds: 120, evidence: () => this.stderr };
        await until(wait, () => {
            if (this.stderr.split(text).length > times)
                return true;
            if (hasEnded)
                throw new Error(`It ended without logging ${String(text)}: ${this.stderr}`);
            return false;
        });
    }
}
/** A port that was free a moment ago. It lies below the ephemeral ports, so that no other socket takes it by chance. */
export async function freePort() {
    for (;;) {
        const port = 12_000 + Math.floor(Math.random() * 20_000);
        const server = createServer();
        const isFree = await new Promise((resolve) => {
            server.once("error", () => resolve(false));
            server.listen(port, "127.0.0.1", () => resolve(true));
        });
        await new Promise((resolve) => void server.close(resolve));
        if (isFree)
            return port;
    }
}
/** Writes a configuration file in a folder that is deleted when the test ends. */
export function writeConfigFile(context, text) {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-serve-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "rolecall.yaml");
    writeFileSync(file, text);
    return file;
}
//# sourceMappingURL=rolecall-process.js.map