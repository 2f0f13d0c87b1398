import { readArguments } from "./framework/arguments.ts";
import { CommandError, type CommandSpec } from "./framework/command.ts";
import { commands } from "./specs/commands.ts";
import { commandHelp, overallHelp, usageOf } from "./specs/help.ts";
import type { Io } from "./output/io.ts";
import { Progress } from "./output/progress.ts";
import { ResultBuilder } from "./result/builder.ts";
import type { Diagnostic, Result } from "./result/document.ts";
import type { CommandContext } from "./framework/command-context.ts";
import { renderFindings, shownFindings } from "./output/findings.ts";
import { styleFor } from "./output/style.ts";
import { version } from "../config/version.ts";

/** How a command line came out. */
export interface RunResult {
  readonly exitCode: 0 | 1 | 2;
  /** It was ended before its time: what it left open may keep the process from ending by itself. */
  readonly wasInterrupted: boolean;
}

/** What may end a command before its time; the reason of each says why. */
export interface Cancellation {
  /** A signal, or nobody reads what is written. */
  readonly ended: AbortSignal;
  /** A mistake of our own that nobody caught. */
  readonly crashed: AbortSignal;
}

/**
 * Runs one command line. With `--format json` exactly one document is written to stdout and nothing else, whatever happens.
 */
export async function run(argv: readonly string[], io: Io, cancellation: Cancellation): Promise<RunResult> {
  const format = wantedFormat(argv);
  const [first = "", ...rest] = argv;
  const name = first === "--version" ? "version" : first;
  const spec = commands.find((candidate) => candidate.name === name);
  const result = new ResultBuilder({ version: version(), command: spec?.name ?? "rolecall" }, spec?.checks ?? []);
  const printed: Promise<void>[] = [];
  const print = (text: string): void => {
    if (format === "text") printed.push(io.stdout.write(text));
  };
  const progress = new Progress(io.stderr, format === "text");
  const style = styleFor(optionOf(argv, "color"), io.stdout.isTerminal && io.stderr.isTerminal, io.env);
  const ended = new AbortController();
  const isService = spec?.isService === true;
  const cause = await Promise.race([
    attempt(async () => {
      if (spec === undefined) return withoutCommand(name, result, print);
      const args = readArguments(spec, rest);
      if (args.has("help")) return help(commandHelp(spec), result, print);
      const context: CommandContext = {
        args,
        commands,
        format,
        result,
        style,
        progress,
        signal: isService ? cancellation.ended : ended.signal,
        io,
        print,
      };
      return (await spec.load())(context);
    }),
    aborted(cancellation.crashed),
    ...(isService ? [] : [aborted(cancellation.ended)]),
  ]);
  ended.abort();
  progress.done();
  explainCause(cause, result);
  const document = await reviewed(result, optionOf(argv, "policy"));
  await Promise.all(printed);
  await write(document, { format, io, style, to: spec?.findingsTo ?? "stdout" });
  if (format === "text" && document.diagnostics.some(({ rule_id: id }) => id === "RC001"))
    await io.stderr.write(hint(spec));
  return { exitCode: document.exit_code, wasInterrupted: cause !== null };
}

/** Why a command did not end by itself: an error it threw, or the reason of its ending. */
type Cause = { readonly thrown: unknown } | { readonly ending: unknown } | null;

async function attempt(work: () => Promise<void> | void): Promise<Cause> {
  try {
    await work();
    return null;
  } catch (thrown) {
    return { thrown };
  }
}

function aborted(signal: AbortSignal): Promise<Cause> {
  return new Promise((resolve) => {
    const end = (): void => resolve({ ending: signal.reason });
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function explainCause(cause: Cause, result: ResultBuilder): void {
  if (cause === null) return;
  if ("ending" in cause) {
    const isCrash = cause.ending instanceof Error;
    result.diagnose(isCrash ? "RC002" : "RC004", {
      message: isCrash ? cause.ending.message : `ended by ${String(cause.ending)}`,
      incomplete: true,
    });
  } else if (cause.thrown instanceof CommandError)
    result.diagnose(cause.thrown.rule, { message: cause.thrown.message, severity: "error", incomplete: true });
  else
    result.diagnose("RC002", {
      message: cause.thrown instanceof Error ? cause.thrown.message : String(cause.thrown),
      incomplete: true,
    });
}

function withoutCommand(name: string, result: ResultBuilder, print: (text: string) => void): void {
  if (name === "help" || name === "--help" || name === "-h") return help(overallHelp(commands), result, print);
  const known = commands.map((spec) => spec.name).join(", ");
  throw new CommandError(
    "RC001",
    `Cannot run ${name === "" ? "nothing" : JSON.stringify(name)} as it must be a command: ${known}`,
  );
}

/** What a command line that was not understood should have been. */
function hint(spec: CommandSpec | undefined): string {
  return spec === undefined
    ? `\n${overallHelp(commands)}`
    : `Usage: ${usageOf(spec)}\nrolecall ${spec.name} --help tells more.\n`;
}

function help(text: string, result: ResultBuilder, print: (text: string) => void): void {
  for (const { id } of result.build().coverage)
    result.cover(id, "not_applicable", { detail: "only help was asked for" });
  result.data = { help: text };
  print(text);
}

/** Applies the policy, if one was named; it is loaded only then. */
async function reviewed(result: ResultBuilder, file: string | null): Promise<Result> {
  if (file === null) return result.build();
  const [{ readPolicy }, { applyPolicy }] = await Promise.all([
    import("./result/policy-file.ts"),
    import("./result/policy.ts"),
  ]);
  const policy = readPolicy(file);
  return result.build((diagnostics: readonly Diagnostic[]) => applyPolicy(policy, diagnostics, Date.now()));
}

interface Writing {
  readonly format: "text" | "json";
  readonly io: Io;
  readonly style: CommandContext["style"];
  readonly to: "stdout" | "stderr";
}

async function write(document: Result, { format, io, style, to }: Writing): Promise<void> {
  if (format === "json") return io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  const shown = shownFindings(document);
  const open = shown.filter(({ incomplete }) => incomplete === true);
  await io[to].write(
    renderFindings(
      shown.filter(({ incomplete }) => incomplete !== true),
      style,
    ),
  );
  await io.stderr.write(renderFindings(open, style));
}

/** The format must be known before the command line is understood: its mistakes are told in it too. */
function wantedFormat(argv: readonly string[]): "text" | "json" {
  return optionOf(argv, "format") === "json" ? "json" : "text";
}

function optionOf(argv: readonly string[], name: string): string | null {
  const end = argv.indexOf("--");
  const options = end < 0 ? argv : argv.slice(0, end);
  const at = options.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const found = options[at];
  if (found === undefined) return null;
  return found === `--${name}` ? (options[at + 1] ?? null) : found.slice(name.length + 3);
}
