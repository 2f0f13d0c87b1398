import { isObject, listOf, parseJson } from "../../cluster/values/json.ts";
import type { DrainOverview } from "../../health/explain/overview.ts";
import { parseDurationOption } from "../framework/arguments.ts";
import { CommandError } from "../framework/command.ts";
import { resolveName } from "../client/node-name.ts";
import { readDrain, fetchStatusFrom } from "../client/cluster-status.ts";
import { messageOf, Server, type ServerReply } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { formatDuration } from "../output/figures.ts";
import { table } from "../output/table.ts";

/** `rolecall drain NODE --for TIME --reason TEXT`: a soft no that the running rolecall keeps, and ends by itself. */
export async function drain(context: CommandContext): Promise<void> {
  const { args, result, print, io } = context;
  const span = args.text("for");
  const reason = args.text("reason");
  if (span === null || parseDurationOption(span) === undefined)
    throw new CommandError(
      "RC001",
      `--for must be a time such as 30m, 2h: it is ${span === null ? "not there" : JSON.stringify(span)}`,
    );
  if (reason === null) throw new CommandError("RC001", "--reason must say why, in a few words");
  const { path, subject, server } = await placeOf(context);
  const body = {
    for: `${parseDurationOption(span)}ms`,
    reason,
    all: args.has("all"),
    by: whoAsks(args.text("by"), io.env),
  };
  const reply = await server.call({ method: "POST", path, body });
  const answer = parseJson(reply.text);
  if (reply.status !== 200 || !isObject(answer) || !isObject(answer["drain"])) return refused(context, subject, reply);
  const begun = readDrain(answer["drain"]);
  result.cover("drain", "complete", { detail: subject });
  result.data = answer;
  print(
    `${subject} is drained ${begun.all ? "on all routes" : "as a replica"} for ${formatDuration(begun.remaining_ms)}, until ${begun.until}\n`,
  );
}

/** `rolecall undrain NODE`. */
export async function undrain(context: CommandContext): Promise<void> {
  const { args, result, print, io } = context;
  const { path, subject, server } = await placeOf(context);
  const reply = await server.call({ method: "DELETE", path, body: { by: whoAsks(args.text("by"), io.env) } });
  if (reply.status !== 200) return refused(context, subject, reply);
  result.cover("drain", "complete", { detail: subject });
  result.data = parseJson(reply.text);
  print(`${subject} is in service again\n`);
}

/** `rolecall drains`. */
export async function drains(context: CommandContext): Promise<void> {
  const { result, print } = context;
  const server = new Server(context, "admin");
  const { drains: rows } = await server.getObject("/drains");
  const known = listOf(rows)
    .filter(isObject)
    .map((row) => ({ name: `${String(row["cluster"])}/${String(row["node"])}`, ...readDrain(row) }));
  result.cover("drains", "complete", { detail: server.url });
  result.data = { drains: rows };
  print(
    known.length === 0
      ? "no node is drained\n"
      : table(["NODE", "ROUTES", "ENDS IN", "BY", "REASON"], known.map(rowOf)),
  );
}

function rowOf({
  name,
  all,
  remaining_ms: ms,
  by,
  reason,
}: DrainOverview & { readonly name: string }): { text: string }[] {
  return [name, all ? "all" : "replica", formatDuration(ms), by ?? "-", reason].map((text) => ({ text }));
}

async function placeOf(
  context: CommandContext,
): Promise<{ readonly path: string; readonly subject: string; readonly server: Server }> {
  const server = new Server(context, "admin");
  const [name = ""] = context.args.positionals;
  const { cluster, node } = resolveName(await fetchStatusFrom(server), {
    cluster: context.args.text("cluster"),
    node: name,
  });
  return {
    path: `/drains/${encodeURIComponent(cluster)}/${encodeURIComponent(node ?? "")}`,
    subject: `${cluster}/${node}`,
    server,
  };
}

/** The server understood and said no: that is a finding, and the command's work is done. */
function refused({ result }: CommandContext, subject: string, reply: ServerReply): void {
  result.cover("drain", "complete", { detail: `${subject}: refused` });
  result.diagnose("RC070", { message: `${reply.status}: ${messageOf(reply)}` });
}

function whoAsks(by: string | null, env: CommandContext["io"]["env"]): string | null {
  return by ?? env["SUDO_USER"] ?? env["USER"] ?? env["LOGNAME"] ?? null;
}
