import { existsSync, writeFileSync } from "node:fs";
import { fetchPastIncident, readPastIncident, type PastIncident } from "./past-incident.ts";
import { parsePastTime } from "../../../core/command/client/past-time.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { formatByteSize } from "../../../core/cluster/values/byte-size.ts";
import { formatZonedTime } from "../../../core/command/output/local-time.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";

/**
 * `rolecall incident --around TIME`: saves the evidence of the minutes around a time as an incident file, and prints a
 * summary. `--save -` prints the file. A time of which nothing is kept is a finding (RC090, exit code 1).
 */
export async function incident(context: CommandContext): Promise<void> {
  const { args, result } = context;
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
  const { args, print, format, io } = context;
  const target = args.text("save");
  if (target === "-") return print(text);
  // The document on stdout has the text.
  if (target === null && format === "json") return;
  const file = target ?? saveAnew(cluster, around, text);
  if (target !== null) save(file, text, "w");
  if (format === "text") await io.stderr.write(`${file}\n${summaryOf(text, cluster, file)}`);
}

/**
 * Writes the file under a name of its own in the working directory.
 * @returns the name
 * @throws CommandError (RC150)
 */
function saveAnew(cluster: string, around: string, text: string): string {
  const name = `incident-${cluster.replaceAll(/[^\w.-]/g, "_")}-${around.replaceAll(/[:-]|\.\d+/g, "")}`;
  for (let turn = 1; ; turn += 1) {
    const file = turn === 1 ? `${name}.yaml` : `${name}-${turn}.yaml`;
    if (turn < savedMax && existsSync(file)) continue;
    save(file, text, "wx");
    return file;
  }
}

/** How many files of one cluster and time get a name of their own. */
const savedMax = 100;

/**
 * Writes the file, which only its owner can read: it names addresses.
 * @param flag `wx`: never over an existing file
 * @throws CommandError (RC150)
 */
function save(file: string, text: string, flag: "w" | "wx"): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag });
  } catch (error) {
    const [what, advice] = flag === "w" ? ["--save", ""] : [file, "; name another file with --save FILE"];
    throw new CommandError("RC150", `Cannot write ${what}: ${errorMessage(error)}${advice}`);
  }
}

/** What the file holds, and what it is good for. */
function summaryOf(text: string, cluster: string, file: string): string {
  const steps = text.match(/^ {2}- at: /gm)?.length ?? 0;
  return (
    `${cluster}: ${steps} observations, ${formatByteSize(Buffer.byteLength(text))}. ` +
    "Keep the file: the history drops old evidence.\n" +
    `To look at it: rolecall incident show ${file}. To replay it: rolecall incident replay ${file} (docs/incidents.md).\n`
  );
}
