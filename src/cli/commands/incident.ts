import { writeFileSync } from "node:fs";
import { fetchPastIncident, readPastIncident, type PastIncident } from "../client/past-incident.ts";
import { parsePastTime } from "../client/past-time.ts";
import { CommandError } from "../framework/command-error.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { nextCommand } from "../client/next-command.ts";
import { formatZonedTime } from "../output/local-time.ts";
import { errorMessage } from "../result/error-message.ts";

/**
 * `rolecall incident --around TIME`: prints the evidence of the minutes around a time as an incident file, or saves it.
 * On a terminal it prints a summary only. A time of which nothing is kept is a finding (RC090, exit code 1).
 */
export async function incident(context: CommandContext): Promise<void> {
  const { args, result } = context;
  const [verb, file] = args.positionals;
  if (verb !== "show" && args.text("port") !== null)
    throw new CommandError("RC001", "--port can be used only with incident show");
  if (verb !== undefined) return withFile(context, verb, file);
  const aroundMs = parsePastTime("around", args.text("around") ?? "now", Date.now());
  const query = { cluster: args.text("cluster"), aroundMs };
  const directory = args.text("directory");
  const past = await (directory === null
    ? fetchPastIncident(context, query)
    : readPastIncident(context, directory, query));
  result.cover("evidence", "complete", { detail: past.source });
  if (past.text === null) return diagnoseNothing(context, past, aroundMs);
  const around = new Date(aroundMs).toISOString();
  result.data = { cluster: past.cluster, around, file: past.text };
  await output(context, { ...past, text: past.text }, around);
}

function diagnoseNothing({ args, result }: CommandContext, { cluster, sinceMs }: PastIncident, aroundMs: number): void {
  const kept = sinceMs === null ? "no evidence is kept yet" : `evidence is kept since ${formatZonedTime(sinceMs)}`;
  const of = args.text("cluster") === null && args.text("directory") !== null ? "" : ` of ${cluster}`;
  result.diagnose("RC090", { message: `Nothing is kept${of} around ${formatZonedTime(aroundMs)}: ${kept}` });
}

async function output(
  context: CommandContext,
  { cluster, text }: { readonly cluster: string; readonly text: string },
  around: string,
): Promise<void> {
  const { args, print, format, io, style } = context;
  const target = args.text("save");
  if (target !== null) {
    save(target, text);
    return print(`${target}\n${summaryOf(text, cluster)}`);
  }
  // Thousands of lines on a terminal help nobody.
  if (io.stdout.isTerminal) {
    const options = { around, cluster, directory: args.text("directory"), save: "incident.yaml" };
    const saving = nextCommand(context, { name: "incident", options });
    return print(`${summaryOf(text, cluster)}To save it: ${saving}\n`);
  }
  print(text);
  if (format === "text" && io.stderr.isTerminal) await io.stderr.write(style.dim(summaryOf(text, cluster)));
}

/** Writes the file, which only its owner can read: it names addresses. @throws CommandError (RC150) */
function save(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw new CommandError("RC150", `Cannot write --save: ${errorMessage(error)}`);
  }
}

/** `rolecall incident show|replay FILE`. */
async function withFile(context: CommandContext, verb: string, file: string | undefined): Promise<void> {
  if (file === undefined) throw new CommandError("RC001", `incident ${verb} takes FILE, got nothing`);
  const given = ["around", "cluster", "directory"].find((name) => context.args.text(name) !== null);
  if (given !== undefined) throw new CommandError("RC001", `--${given} cannot be used with incident ${verb}`);
  if (verb === "show") return (await import("../incident/show-incident.ts")).showIncident(context, file);
  return (await import("../incident/replay-incident.ts")).replayIncident(context, file);
}

/** What the file holds, and what it is good for. */
function summaryOf(text: string, cluster: string): string {
  const steps = text.match(/^ {2}- at: /gm)?.length ?? 0;
  return (
    `${cluster}: ${steps} observations, ${formatByteSize(Buffer.byteLength(text))}. ` +
    "Keep the file: the history drops old evidence.\n" +
    "To look at it: rolecall incident show FILE. To replay it: rolecall incident replay FILE (docs/incidents.md).\n"
  );
}
