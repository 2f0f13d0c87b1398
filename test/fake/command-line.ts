import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { Io, OutputStream } from "../../src/core/command/output/io.ts";
import type { Result } from "../../src/core/command/result/document.ts";
import { run } from "../../src/cli/run.ts";
import { assertResultDocument } from "./result-document.ts";

/** The result of a command line. */
export interface CommandOutput {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The input of a command line besides its arguments. */
export interface CommandInput {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
}

/** Runs a command line within this process and returns its streams as text. */
export async function runText(argv: readonly string[], input: CommandInput = {}): Promise<CommandOutput> {
  const [out, err] = [new MemorySink(input.isTerminal ?? false), new MemorySink(input.isTerminal ?? false)];
  const io: Io<OutputStream> = {
    stdout: out,
    stderr: err,
    stdin: Object.assign(Readable.from([input.stdin ?? ""]), { isTTY: input.isTerminal ?? false }),
    env: input.env ?? {},
    stdoutClosed: neverAborted(),
  };
  const { exitCode } = await run(argv, io, { ended: neverAborted(), crashed: neverAborted() });
  return { code: exitCode, out: out.text, err: err.text };
}

/** Runs it with `--format json`. Checks with ajv that stdout is one document, and that it states the exit code. */
export async function runJson(argv: readonly string[], input: CommandInput = {}): Promise<Result> {
  const { code, out, err } = await runText([...argv, "--format", "json"], input);
  const document = assertResultDocument(out);
  assert.equal(document.exit_code, code);
  assert.equal(err, "");
  return document;
}

/** Returns a new signal each time, because each run adds listeners to it. */
function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

class MemorySink implements OutputStream {
  readonly isTerminal: boolean;
  text = "";

  constructor(isTerminal: boolean) {
    this.isTerminal = isTerminal;
  }

  columns(): number {
    return 100;
  }

  rows(): number {
    return 40;
  }

  onResize(): () => void {
    return () => {};
  }

  async write(text: string): Promise<void> {
    this.text += text;
  }
}
