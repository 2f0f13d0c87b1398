import { spawn } from "node:child_process";
import type { Evidence } from "./document.ts";

/** The most that is kept of one stream, in characters. */
const outputMax = 65_536;

/** What a sub-command is run with. */
export interface Execution {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory?: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a sub-command and records it: argv, folder, output, exit code. Secrets are blotted out, long output is cut with a
 * note. @returns the record; the exit code is -1 where it did not run or was ended, and stderr says why
 */
export function execute({ command, args, directory, timeoutMs, signal }: Execution): Promise<Evidence> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: directory, stdio: ["ignore", "pipe", "pipe"], signal });
    const deadline = setTimeout(() => child.kill(), timeoutMs);
    const output = { stdout: new Capped(), stderr: new Capped() };
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
    child.once("error", (error) => finish(-1, `[it did not run: ${error.message}]`));
    child.once("close", (code, killed) => finish(code ?? -1, killed === null ? "" : `[ended by ${killed}]`));
  });
}

/**
 * Blots out what must not be shown: passwords in addresses and values of keys that name a secret. Also those that HAProxy,
 * HTTP and PostgreSQL write with a space between key and value.
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

/** Text of bounded length. */
class Capped {
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
    return this.#total > this.#kept
      ? `${text}\n[cut: ${this.#total} bytes in all, the first ${this.#kept} are shown]\n`
      : text;
  }
}
