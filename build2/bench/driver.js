/** Runs a load program to its end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChildProgram } from "./child-program.js";
/** How much longer than its load a program may take to start and end, in ms. */
const patienceMs = 30_000;
/**
 * Runs a load program that takes `seconds` and returns its stdout.
 * @throws Error if it ends with another code than 0 or not in time
 */
export async function outputOf(command, seconds) {
    const started = await ChildProgram.start({ command, core: "load" });
    const timer = setTimeout(() => void started.stop(), seconds * 1_000 + patienceMs);
    const { stdout, code, stderr } = await started.end();
    clearTimeout(timer);
    if (code !== 0)
        throw new Error(`Cannot measure with ${command.slice(0, 2).join(" ")}: it must end with 0, got ${code}\n${stderr}`);
    return stdout;
}
/** Calls `work` with a temporary file that holds `text`. */
export async function withFile(text, work) {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
    const file = join(folder, "file");
    writeFileSync(file, text);
    try {
        return await work(file);
    }
    finally {
        rmSync(folder, { recursive: true, force: true });
    }
}
//# sourceMappingURL=driver.js.map