import { spawn } from "node:child_process";
import type { Evidence } from "./document.ts";

/** The maximum size of a recorded stream, in bytes. */
const outputMax = 65_536;

/** How to run a program. */
export interface Execution {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a program and records its arguments, directory, output and exit code. Redacts secrets; truncates long output.
 * @returns the record. The exit code is -1 if the program could not be started or was killed; stderr says why
 */
export function execute({ command, args, directory, timeoutMs, signal }: Execution): Promise<Evidence> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"], signal });
    const deadline = setTimeout(() => child.kill(), timeoutMs);
    const output = { stdout: new BoundedOutput(), stderr: new BoundedOutput() };
    child.stdout.on("data", (chunk: Buffer) => output.stdout.add(chunk));
    child.stderr.on("data", (chunk: Buffer) => output.stderr.add(chunk));
    const finish = (code: number, note: string): void => {
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
    child.once("close", (code, killSignal) =>
      finish(code ?? -1, killSignal === null ? "" : `[killed by ${killSignal}]`),
    );
  });
}

/**
 * Redacts secrets: passwords in URLs, private keys, and values of keys that name a secret. Covers the notations of
 * HAProxy, HTTP and PostgreSQL too, which separate key and value by a space.
 */
export function redact(text: string): string {
  return text
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/@]+@/gi, "$1:***@")
    .replaceAll(/\b(authorization\s*:\s*)(?:(basic|bearer)\s+)?\S+/gi, "$1***")
    .replaceAll(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, "$1 ***")
    .replaceAll(
      /(?<![\w-])([\w-]*(?:password|passwd|passphrase|secret|token|api[-_]?key)"?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;]+)/gi,
      "$1***",
    )
    .replaceAll(/\b((?:insecure-)?password\s+)(?![=:])\S+/gi, "$1***")
    .replaceAll(/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g, "-----BEGIN $1----- ***");
}

/** The output of a program, up to `outputMax` bytes. */
class BoundedOutput {
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #total = 0;

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const rest = chunk.subarray(0, Math.max(0, outputMax - this.#kept));
    this.#kept += rest.length;
    if (rest.length > 0) this.#chunks.push(rest);
  }

  get text(): string {
    const text = redact(Buffer.concat(this.#chunks).toString("utf8"));
    return this.#total > this.#kept ? `${text}\n[truncated: the first ${this.#kept} of ${this.#total} bytes]\n` : text;
  }
}
