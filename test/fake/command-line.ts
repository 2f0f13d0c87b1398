import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { Io, Sink } from "../../src/cli/output/io.ts";
import type { Result } from "../../src/cli/result/document.ts";
import { run } from "../../src/cli/run.ts";
import { assertResultDocument } from "./result-document.ts";

/** How a command line came out. */
export interface CommandOutput {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What a command line is run with beside its arguments. */
export interface CommandInput {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
}

/** Runs a command line within this process, its streams kept as text. */
export async function runText(argv: readonly string[], around: CommandInput = {}): Promise<CommandOutput> {
  const [out, err] = [new MemorySink(around.isTerminal ?? false), new MemorySink(around.isTerminal ?? false)];
  const io: Io = {
    stdout: out,
    stderr: err,
    stdin: Object.assign(Readable.from([around.stdin ?? ""]), { isTTY: around.isTerminal ?? false }),
    env: around.env ?? {},
    unread: neverAborted(),
  };
  const { exitCode } = await run(argv, io, { ended: neverAborted(), crashed: neverAborted() });
  return { code: exitCode, out: out.text, err: err.text };
}

/** Runs it with `--format json`; what is on stdout is one document, judged by ajv, that says the code it ended with. */
export async function runJson(argv: readonly string[], around: CommandInput = {}): Promise<Result> {
  const { code, out, err } = await runText([...argv, "--format", "json"], around);
  const document = assertResultDocument(out);
  assert.equal(document.exit_code, code);
  assert.equal(err, "");
  return document;
}

/** A new one each time: a process has one run, and its listeners go with it. */
function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

class MemorySink implements Sink {
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
