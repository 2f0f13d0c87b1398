import { isObject, listOf, parseJson } from "../cluster/json.ts";
import type { DrainOverview } from "../health/overview.ts";
import { parseSpan } from "./arguments.ts";
import { Stop } from "./command.ts";
import { resolveName } from "./node-name.ts";
import { readDrain, seeFrom } from "./seen.ts";
import { messageOf, Server, type ServerReply } from "./server.ts";
import type { Session } from "./session.ts";
import { formatSpan } from "./text/figures.ts";
import { table } from "./text/table.ts";

/** `rolecall drain NODE --for TIME --reason TEXT`: a soft no that the running rolecall keeps, and ends by itself. */
export async function drain(session: Session): Promise<void> {
  const { args, result, print, io } = session;
  const span = args.text("for");
  const reason = args.text("reason");
  if (span === null || parseSpan(span) === undefined)
    throw new Stop("RC001", `--for must be a time such as 30m, 2h: it is ${span === null ? "not there" : JSON.stringify(span)}`);
  if (reason === null) throw new Stop("RC001", "--reason must say why, in a few words");
  const { path, subject, server } = await placeOf(session);
  const body = { for: `${parseSpan(span)}ms`, reason, all: args.has("all"), by: whoAsks(args.text("by"), io.env) };
  const reply = await server.call({ method: "POST", path, body });
  const answer = parseJson(reply.text);
  if (reply.status !== 200 || !isObject(answer) || !isObject(answer["drain"])) return refused(session, subject, reply);
  const begun = readDrain(answer["drain"]);
  result.cover("drain", "complete", { detail: subject });
  result.data = answer;
  print(
    `${subject} is drained ${begun.all ? "on all routes" : "as a replica"} for ${formatSpan(begun.remaining_ms)}, until ${begun.until}\n`,
  );
}

/** `rolecall undrain NODE`. */
export async function undrain(session: Session): Promise<void> {
  const { args, result, print, io } = session;
  const { path, subject, server } = await placeOf(session);
  const reply = await server.call({ method: "DELETE", path, body: { by: whoAsks(args.text("by"), io.env) } });
  if (reply.status !== 200) return refused(session, subject, reply);
  result.cover("drain", "complete", { detail: subject });
  result.data = parseJson(reply.text);
  print(`${subject} is in service again\n`);
}

/** `rolecall drains`. */
export async function drains(session: Session): Promise<void> {
  const { result, print } = session;
  const server = new Server(session, "admin");
  const { drains: rows } = await server.getObject("/drains");
  const known = listOf(rows)
    .filter(isObject)
    .map((row) => ({ name: `${String(row["cluster"])}/${String(row["node"])}`, ...readDrain(row) }));
  result.cover("drains", "complete", { detail: server.url });
  result.data = { drains: rows };
  print(known.length === 0 ? "no node is drained\n" : table(["NODE", "ROUTES", "ENDS IN", "BY", "REASON"], known.map(rowOf)));
}

function rowOf({ name, all, remaining_ms: ms, by, reason }: DrainOverview & { readonly name: string }): { text: string }[] {
  return [name, all ? "all" : "replica", formatSpan(ms), by ?? "-", reason].map((text) => ({ text }));
}

async function placeOf(session: Session): Promise<{ readonly path: string; readonly subject: string; readonly server: Server }> {
  const server = new Server(session, "admin");
  const [name = ""] = session.args.positionals;
  const { cluster, node } = resolveName(await seeFrom(server), { cluster: session.args.text("cluster"), node: name });
  return { path: `/drains/${encodeURIComponent(cluster)}/${encodeURIComponent(node ?? "")}`, subject: `${cluster}/${node}`, server };
}

/** The server understood and said no: that is a finding, and the command's work is done. */
function refused({ result }: Session, subject: string, reply: ServerReply): void {
  result.cover("drain", "complete", { detail: `${subject}: refused` });
  result.diagnose("RC070", { message: `${reply.status}: ${messageOf(reply)}` });
}

function whoAsks(by: string | null, env: Session["io"]["env"]): string | null {
  return by ?? env["SUDO_USER"] ?? env["USER"] ?? env["LOGNAME"] ?? null;
}
