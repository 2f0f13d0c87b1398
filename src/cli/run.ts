import type { Arguments } from "../core/command/framework/arguments.ts";
import { CommandError } from "../core/command/framework/command-error.ts";
import type { CommandSpec } from "../core/command/framework/command.ts";
import { commandWordsOf } from "../core/command/framework/verbs.ts";
import { parseCommandLine } from "./command-line.ts";
import { allCommands, commandGroups, commands, removedCommands } from "./specs/commands.ts";
import { sinkOf, type Io, type OutputStream } from "../core/command/output/io.ts";
import { Progress } from "../core/command/output/progress.ts";
import { ResultBuilder } from "../core/command/result/builder.ts";
import type { Diagnostic, ExitCode, Result } from "../core/command/result/document.ts";
import type { CommandContext, OutputFormat } from "../core/command/framework/command-context.ts";
import { renderFindings, shownFindings } from "../core/command/output/findings.ts";
import { styleFor } from "../core/command/output/style.ts";
import { suggest } from "../core/cluster/values/did-you-mean.ts";
import { escapeUnsafe } from "../core/cluster/values/unsafe-text.ts";
import { version } from "../core/config/version.ts";
import { errorMessage } from "../core/cluster/values/error-message.ts";

/** How a command line ended. */
export interface RunResult {
  readonly exitCode: ExitCode;
  /**
   * The process must exit, although resources may still be open: the command was interrupted, or it was a service,
   * which has closed what it needed to close.
   */
  readonly mustExit: boolean;
}

/** What may end a command early. The abort reasons say why. */
export interface Cancellation {
  /** Aborted by a signal, or when the reader of stdout is gone. */
  readonly ended: AbortSignal;
  /** Aborted by an uncaught error; the reason is the error. */
  readonly crashed: AbortSignal;
}

/**
 * Runs one command line. With `--format json` (or `--output json|yaml`) it always writes exactly one document to stdout
 * and nothing else.
 * @param argv the arguments after the program's name
 */
export async function run(
  argv: readonly string[],
  streams: Io<OutputStream>,
  cancellation: Cancellation,
): Promise<RunResult> {
  const io: Io = { ...streams, stdout: sinkOf(streams.stdout), stderr: sinkOf(streams.stderr) };
  const { spec, name, documentName, args, problem, notes } = await parseCommandLine(argv);
  const format = formatOf(args);
  const result = new ResultBuilder({ version: version(), command: documentName }, spec?.checks ?? []);
  await writeNotes(notes, io);
  const printed: Promise<void>[] = [];
  let isOver = false;
  const partial: { report?: () => string | void } = {};
  const onInterrupt: CommandContext["onInterrupt"] = (report) => {
    partial.report = report;
  };
  const print = (text: string): void => {
    if (format === "text" && !isOver) printed.push(io.stdout.write(text));
  };
  const progress = new Progress(io.stderr, format === "text");
  const style = styleFor(args.text("color"), io.stdout.isTerminal && io.stderr.isTerminal, io.env);
  const ended = new AbortController();
  const isService = spec?.isService === true;
  const signal = isService ? cancellation.ended : ended.signal;
  const cause = await Promise.race([
    attempt(async () => {
      if (spec === null) return runWithoutCommand(argv, name, { result, print, io });
      refuseRemoved(`${spec.name} ${args.positionals[0] ?? ""}`);
      if (problem !== null) throw problem;
      if (args.has("help") || spec.load === null) return showHelp(await helpOf(spec), result, print);
      const command = await spec.load();
      return command({ args, commands, format, result, style, progress, signal, io, print, onInterrupt });
    }),
    abortOf(cancellation.crashed),
    ...(isService ? [] : [abortOf(cancellation.ended)]),
  ]);
  ended.abort();
  progress.done();
  const isInterrupted = cause !== null && "abortReason" in cause && !(cause.abortReason instanceof Error);
  const next = isInterrupted ? tryTo(partial.report) : null;
  // An interrupted command may still run for a moment: the document is complete without it.
  isOver = true;
  if (cause !== null) diagnoseCause(cause, result, next);
  const document = await buildDocument(result, args.text("policy"));
  await Promise.all(printed);
  const ownFindings = args.text("policy") === null ? (spec?.ownFindings ?? []) : [];
  await write(document, { format, io, style, to: spec?.findingsTo ?? "stdout", ownFindings });
  if (format === "text" && spec !== null && document.diagnostics.some(({ rule_id: id }) => id === "RC001"))
    await io.stderr.write(`Usage: ${(await import("./specs/help.ts")).usageOf(spec)}\n`);
  return { exitCode: document.exit_code, mustExit: cause !== null || isService };
}

/** Why a command did not end by itself: the error it threw, or the reason of the abort. */
type Cause = { readonly thrown: unknown } | { readonly abortReason: unknown };

async function attempt(work: () => Promise<void> | void): Promise<Cause | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    return { thrown };
  }
}

/** What is known when a command is interrupted may be too little to report. */
function tryTo(report: (() => string | void) | undefined): string | null {
  try {
    return report?.() ?? null;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return null;
  }
}

function abortOf(signal: AbortSignal): Promise<Cause> {
  return new Promise((resolve) => {
    const tell = (): void => resolve({ abortReason: signal.reason });
    if (signal.aborted) tell();
    else signal.addEventListener("abort", tell, { once: true });
  });
}

/** @param next what to do after an interruption, if the command says so */
function diagnoseCause(cause: Cause, result: ResultBuilder, next: string | null): void {
  if ("abortReason" in cause) {
    const { abortReason: reason } = cause;
    if (reason instanceof Error) result.diagnose("RC002", { message: reason.message, incomplete: true });
    else
      result.diagnose("RC004", {
        message: `ended by ${String(reason)}`,
        ...(next === null ? {} : { action: next }),
        incomplete: true,
      });
  } else if (cause.thrown instanceof CommandError)
    result.diagnose(cause.thrown.rule, {
      message: cause.thrown.message,
      ...(cause.thrown.action === null ? {} : { action: cause.thrown.action }),
      severity: "error",
      incomplete: true,
    });
  else
    result.diagnose("RC002", {
      message: errorMessage(cause.thrown),
      incomplete: true,
    });
}

/** Says on stderr that a name is an old one, once for each. stdout stays as it was. */
async function writeNotes(notes: readonly string[], { stderr }: Io): Promise<void> {
  for (const note of notes) await stderr.write(`note: ${note}\n`);
}

/**
 * Handles a command line without a known command. Without any arguments it shows the help, as for `help`;
 * `help COMMAND` shows that of a command, and `help options` that of the options which commands share.
 * @throws CommandError (RC001) with the most similar command otherwise
 */
async function runWithoutCommand(
  argv: readonly string[],
  name: string,
  { result, print, io }: Pick<CommandContext, "result" | "print" | "io">,
): Promise<void> {
  const after = name === "help" ? argv.slice(argv.indexOf("help") + 1) : [];
  const end = after.findIndex((word) => word.startsWith("-"));
  const topic = end < 0 ? after : after.slice(0, end);
  const isOverall = argv.length === 0 || (name === "help" && topic.length === 0) || name === "--help" || name === "-h";
  const help = await import("./specs/help.ts");
  if (isOverall) return showHelp(help.overallHelp(commandGroups), result, print);
  if (topic.length === 1 && topic[0] === "options") return showHelp(help.optionsHelp(), result, print);
  const named = topic.length === 0 ? null : await parseCommandLine(topic);
  if (named !== null && named.spec !== null) {
    await writeNotes(named.notes, io);
    return showHelp(await helpOf(named.spec), result, print);
  }
  const wanted = topic[0] ?? name;
  refuseRemoved(wanted);
  const names = commands.map((spec) => spec.name);
  // A verb without its command: rolecall routes.
  const near = allCommands.find((spec) => spec.name.endsWith(` ${wanted}`))?.name ?? suggest(wanted, names);
  const hint = near === null ? "" : `: did you mean rolecall ${near}?`;
  const problem =
    name === ""
      ? "Cannot run rolecall: a command must follow the options"
      : `Unknown command ${JSON.stringify(wanted)}${hint}`;
  throw new CommandError("RC001", problem, "Run rolecall --help for the commands.");
}

/** The help of a command or verb; that of a form is its command's. */
async function helpOf(spec: CommandSpec): Promise<string> {
  const { commandHelp } = await import("./specs/help.ts");
  const shown = allCommands.find(({ name }) => name === commandWordsOf(spec)) ?? spec;
  return commandHelp(shown);
}

/** @throws CommandError (RC001) that says what to use instead, if this was a command once */
function refuseRemoved(command: string): void {
  const instead = removedCommands.get(command);
  if (instead !== undefined) throw new CommandError("RC001", `rolecall ${command} was removed`, instead);
}

function showHelp(text: string, result: ResultBuilder, print: (text: string) => void): void {
  for (const { id } of result.build().coverage)
    result.cover(id, "not_applicable", { detail: "only help was requested" });
  result.data = { help: text };
  print(text);
}

/** Builds the result document. Applies the policy, whose code is loaded only if a policy is named. */
async function buildDocument(result: ResultBuilder, policyFile: string | null): Promise<Result> {
  if (policyFile === null) return result.build();
  const [{ readPolicy }, { applyPolicy }] = await Promise.all([
    import("../core/command/result/policy-file.ts"),
    import("../core/command/result/policy.ts"),
  ]);
  const policy = readPolicy(policyFile);
  return result.build((diagnostics: readonly Diagnostic[]) => applyPolicy(policy, diagnostics, Date.now()));
}

/** The output format: `--output` of commands that have it, else `--format`. */
function formatOf(args: Arguments): OutputFormat {
  const output = args.text("output");
  if (output === "json" || output === "yaml") return output;
  return args.text("format") === "json" ? "json" : "text";
}

interface Destination {
  readonly format: OutputFormat;
  readonly io: Io;
  readonly style: CommandContext["style"];
  /** Where findings of complete work go; the others always go to stderr. */
  readonly to: "stdout" | "stderr";
  /** The rules of findings that the command printed itself. */
  readonly ownFindings: readonly string[];
}

async function write(document: Result, { format, io, style, to, ownFindings }: Destination): Promise<void> {
  if (format === "json") return io.stdout.write(`${escapeUnsafe(JSON.stringify(document, null, 2))}\n`);
  if (format === "yaml") return io.stdout.write((await import("yaml")).stringify(document, { lineWidth: 120 }));
  const findings = shownFindings(document);
  // An interruption is the reason why checks are not complete: each of them would only repeat it.
  const isInterrupted = findings.some(({ rule_id: id }) => id === "RC004");
  const shown = isInterrupted ? findings.filter(({ rule_id: id }) => id !== "RC003") : findings;
  const complete = shown.filter(({ incomplete, rule_id: id }) => incomplete !== true && !ownFindings.includes(id));
  const incomplete = shown.filter((finding) => finding.incomplete === true);
  await io[to].write(renderFindings(complete, style));
  await io.stderr.write(renderFindings(incomplete, style));
}
