import { spawn } from "node:child_process";
/** The maximum size of a recorded stream, in bytes. */
const outputMax = 65_536;
/**
 * Runs a program and records its arguments, directory, output and exit code. Redacts secrets; truncates long output.
 * @returns the record. The exit code is -1 if the program could not be started or was killed; stderr says why
 */
export function execute({ command, args, directory, timeoutMs, signal }) {
    return new Promise((resolve) => {
        const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"], signal });
        const deadline = setTimeout(() => child.kill(), timeoutMs);
        const output = { stdout: new BoundedOutput(), stderr: new BoundedOutput() };
        child.stdout.on("data", (chunk) => output.stdout.add(chunk));
        child.stderr.on("data", (chunk) => output.stderr.add(chunk));
        const finish = (code, note) => {
            clearTimeout(deadline);
            resolve({
                command: [command, ...args].map(redact),
                ...(directory === undefined ? {} : { directory }),
                stdout: output.stdout.text,
                stderr: `${output.stderr.text}${note}`,
                exit_code: code,
            });
        };
        child.once("error", (error) => finish(-1, `[not started: ${error.message}]`));
        child.once("close", (code, killSignal) => finish(code ?? -1, killSignal === null ? "" : `[killed by ${killSignal}]`));
    });
}
/**
 * Redacts secrets: passwords in URLs, private keys, and values of keys that name a secret. Covers the notations of
 * HAProxy, HTTP and PostgreSQL too, which separate key and value by a space.
 */
export function redact(text) {
    return text
        .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/@]+@/gi, "$1:***@")
        .replaceAll(/\b(authorization\s*:\s*)(?:(basic|bearer)\s+)?\S+/gi, "$1***")
        .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, "$1 ***")
        .replaceAll(/(?<![\w-])([\w-]*(?:password|passwd|passphrase|secret|token|api[-_]?key)"?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;]+)/gi, "$1***")
        .replaceAll(/\b((?:insecure-)?password\s+)(?![=:])\S+/gi, "$1***")
        .replaceAll(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g, "-----BEGIN $1----- ***");
}
/** The output of a program, up to `outputMax` bytes. */
class BoundedOutput {
    #chunks = [];
    #kept = 0;
    #total = 0;
    add(chunk) {
        this.#total += chunk.length;
        const rest = chunk.subarray(0, Math.max(0, outputMax - this.#kept));
        this.#kept += rest.length;
        if (rest.length > 0)
            this.#chunks.push(rest);
    }
    get text() {
        const text = redact(Buffer.concat(this.#chunks).toString("utf8"));
        return this.#total > this.#kept ? `${text}\n[truncated: the first ${this.#kept} of ${this.#total} bytes]\n` : text;
    }
}
//# sourceMappingURL=evidence.js.map