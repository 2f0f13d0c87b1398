import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { run } from "../../src/cli/run.js";
import { assertResultDocument } from "./result-document.js";
/** Runs a command line within this process and returns its streams as text. */
export async function runText(argv, input = {}) {
    const [out, err] = [new MemorySink(input.isTerminal ?? false), new MemorySink(input.isTerminal ?? false)];
    const io = {
        stdout: out,
        stderr: err,
        stdin: Object.assign(Readable.from([input.stdin ?? ""]), { isTTY: input.isTerminal ?? false }),
        env: input.env ?? {},
        unread: neverAborted(),
    };
    const { exitCode } = await run(argv, io, { ended: neverAborted(), crashed: neverAborted() });
    return { code: exitCode, out: out.text, err: err.text };
}
/** Runs it with `--format json`. Checks with ajv that stdout is one document, and that it states the exit code. */
export async function runJson(argv, input = {}) {
    const { code, out, err } = await runText([...argv, "--format", "json"], input);
    const document = assertResultDocument(out);
    assert.equal(document.exit_code, code);
    assert.equal(err, "");
    return document;
}
/** Returns a new signal each time, because each run adds listeners to it. */
function neverAborted() {
    return new AbortController().signal;
}
class MemorySink {
    isTerminal;
    text = "";
    constructor(isTerminal) {
        this.isTerminal = isTerminal;
    }
    columns() {
        return 100;
    }
    rows() {
        return 40;
    }
    onResize() {
        return () => { };
    }
    async write(text) {
        this.text += text;
    }
}
//# sourceMappingURL=command-line.js.map