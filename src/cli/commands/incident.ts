import { writeFileSync } from "node:fs";
import { resolveName } from "../client/node-name.ts";
import { fetchStatusFrom } from "../client/cluster-status.ts";
import { parsePastTime } from "../client/past-time.ts";
import { RolecallClient, replyMessage } from "../client/rolecall-client.ts";
import { CommandError } from "../framework/command-error.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { nextCommand } from "../client/next-command.ts";
import { formatZonedTime } from "../output/local-time.ts";
import { errorMessage } from "../result/error-message.ts";

/** How long the server may take: the evidence of a large cluster is read from disk and written in small steps. */
const defaultTimeout = "1min";

/** What an incident file without evidence ends with. */
const emptyEnd = /\nsteps: \[\]\n(end: \S+\n)?$/;

/**
 * `rolecall incident --around TIME`: prints the evidence of the minutes around a time as an incident file, or saves it.
 * On a terminal it prints a summary only. A time of which nothing is kept is a finding (RC090, exit code 1).
 */
export async function incident(context: CommandContext): Promise<void> {
  const { args, result, print, progress, format, io, style } = context;
  const [verb, file] = args.positionals;
  if (verb !== "show" && args.text("port") !== null)
    throw new CommandError("RC001", "--port can be used only with incident show");
  if (verb !== undefined) return withFile(context, verb, file);
  const aroundMs = parsePastTime("around", args.text("around") ?? "now", Date.now());
  const server = new RolecallClient(context, "admin", defaultTimeout);
  const given = { cluster: args.text("cluster"), node: null };
  const { cluster } = resolveName(await fetchStatusFrom(server), given);
  const around = new Date(aroundMs).toISOString();
  progress.report(`fetching the evidence of ${cluster} around ${around}`);
  const reply = await server.getPage(`/clusters/${encodeURIComponent(cluster)}/incident?around=${around}`);
  progress.done();
  if (reply.status !== 200)
    throw new CommandError("RC009", `${server.url}: ${reply.status} ${reply.phrase}: ${replyMessage(reply)}`);
  result.cover("evidence", "complete", { detail: server.url });
  const since = Date.parse(String(reply.headers["x-rolecall-evidence-since"]));
  if (emptyEnd.test(reply.text)) {
    const kept = Number.isNaN(since) ? "no evidence is kept yet" : `evidence is kept since ${formatZonedTime(since)}`;
    result.diagnose("RC090", { message: `Nothing is kept of ${cluster} around ${formatZonedTime(aroundMs)}: ${kept}` });
    return;
  }
  result.data = { cluster, around, file: reply.text };
  const target = args.text("save");
  if (target !== null) {
    save(target, reply.text);
    return print(`${target}\n${summaryOf(reply.text, cluster)}`);
  }
  // Thousands of lines on a terminal help nobody.
  if (io.stdout.isTerminal) {
    const saving = nextCommand(context, { name: "incident", options: { around, cluster, save: "incident.yaml" } });
    return print(`${summaryOf(reply.text, cluster)}To save it: ${saving}\n`);
  }
  print(reply.text);
  if (format === "text" && io.stderr.isTerminal) await io.stderr.write(style.dim(summaryOf(reply.text, cluster)));
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
  const given = ["around", "cluster"].find((name) => context.args.text(name) !== null);
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
