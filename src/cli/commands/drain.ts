import { isObject, listOf, parseJson } from "../../core/cluster/values/json.ts";
import type { DrainOverview } from "../../core/health/documents/node-overview.ts";
import { drainTimeMs, operatorName } from "../../core/command/client/drain-options.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { confirm } from "../../core/command/framework/confirm.ts";
import { resolveName } from "../../core/command/client/node-name.ts";
import { readDrain, fetchStatusFrom, type StatusCluster } from "../../core/command/client/cluster-status.ts";
import { refusalAction } from "../../core/command/client/refusal.ts";
import { replyMessage, RolecallClient, type RolecallReply } from "../../core/command/client/rolecall-client.ts";
import { drainReach } from "./drain-reach.ts";
import { lostClients } from "./lost-clients.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { formatDuration } from "../../core/command/output/figures.ts";
import { table } from "../../core/command/output/table.ts";

/** `rolecall drain NODE --for TIME --reason TEXT`: drains a node in the running rolecall for a limited time. */
export async function drain(context: CommandContext): Promise<void> {
  const reason = context.args.text("reason");
  if (reason === null) throw new CommandError("RC001", "--reason must explain the drain in a few words, got nothing");
  await begin(context, { reason, all: context.args.has("all") });
}

/** `rolecall drain NODE --distrust --for TIME`: refuses a node everywhere, and ignores what it states, for a limited time. */
export async function distrust(context: CommandContext): Promise<void> {
  await begin(context, { reason: context.args.text("reason") ?? "distrusted by an operator", distrust: true });
}

/** `rolecall drain NODE --end`: ends a drain before it expires, or with `--distrust` a distrust. */
export async function endDrain(context: CommandContext): Promise<void> {
  await end(context, { distrust: context.args.has("distrust") });
}

interface DrainWords {
  readonly reason: string;
  readonly all?: boolean;
  readonly distrust?: boolean;
}

async function begin(context: CommandContext, words: DrainWords): Promise<void> {
  const { args, result, print, io } = context;
  const durationMs = drainTimeMs(args);
  const { path, subject, server, cluster, node } = await targetOf(context);
  const extent = words.distrust === true ? "distrust" : words.all === true ? "all" : "replica";
  const lost = cluster === undefined ? null : await lostClients(server, cluster, { node, extent });
  if (lost !== null) await confirm(context, lost);
  const body = { for: `${durationMs}ms`, ...words, by: operatorName(args.text("by"), io.env) };
  const reply = await server.call({ method: "POST", path, body });
  const document = parseJson(reply.text);
  if (reply.status !== 200 || !isObject(document) || !isObject(document["drain"]))
    return diagnoseRejection(context, subject, reply);
  const started = readDrain(document["drain"]);
  result.cover("drain", "complete", { detail: subject });
  result.data = document;
  print(
    `${subject} is ${stateText(started)} for ${formatDuration(started.remaining_ms)}, ` +
      `until ${started.until}${notDurable(document)}\n${await drainReach(server, cluster?.cluster ?? subject)}\n` +
      (words.distrust === true ? "" : `${fallback}\n`),
  );
}

/** What a drain does not reach. */
const fallback =
  "balancers that fall back to the nodes' own checks know no drain: for maintenance set noloadbalance, too";

function stateText({ all, distrust: isDistrusted }: DrainOverview): string {
  if (isDistrusted) return "distrusted";
  return all ? "drained on all routes" : "drained as a replica";
}

async function end(context: CommandContext, words: { readonly distrust: boolean }): Promise<void> {
  const { args, result, print, io } = context;
  const { path, subject, server } = await targetOf(context);
  const body = { ...words, by: operatorName(args.text("by"), io.env) };
  const reply = await server.call({ method: "DELETE", path, body });
  if (reply.status !== 200) return diagnoseRejection(context, subject, reply);
  result.cover("drain", "complete", { detail: subject });
  const document = parseJson(reply.text);
  result.data = document;
  const state = words.distrust ? "distrust" : "drain";
  print(`the ${state} of ${subject} has ended${notDurable(document)}\n`);
}

/** An older server does not say whether the change outlives it. */
function notDurable(document: unknown): string {
  const isVolatile = isObject(document) && document["durable"] === false;
  return isVolatile ? "; lost if rolecall restarts (state_file is not set)" : "";
}

/** `rolecall drain --list`: lists the drains of the running rolecall. */
export async function drains(context: CommandContext): Promise<void> {
  const { result, print } = context;
  const server = new RolecallClient(context, "admin");
  const { drains: rows } = await server.getObject("/drains");
  const known = listOf(rows)
    .filter(isObject)
    .map((row) => ({ name: `${String(row["cluster"])}/${String(row["node"])}`, ...readDrain(row) }));
  result.cover("drains", "complete", { detail: server.url });
  result.data = { drains: rows };
  print(
    known.length === 0
      ? `no node is drained or distrusted at ${server.url}\n`
      : table(["NODE", "ROUTES", "ENDS IN", "BY", "REASON"], known.map(rowOf)),
  );
}

function rowOf({ name, ...drained }: DrainOverview & { readonly name: string }): { text: string }[] {
  const { all, distrust: isDistrusted, remaining_ms: ms, by, reason } = drained;
  const routes = isDistrusted ? "all, distrusted" : all ? "all" : "replica";
  return [name, routes, formatDuration(ms), by ?? "-", reason].map((text) => ({ text }));
}

interface Target {
  readonly path: string;
  readonly subject: string;
  readonly server: RolecallClient;
  readonly cluster: StatusCluster | undefined;
  readonly node: string;
}

async function targetOf(context: CommandContext): Promise<Target> {
  const server = new RolecallClient(context, "admin");
  const [name = ""] = context.args.positionals;
  const status = await fetchStatusFrom(server);
  const { cluster, node } = resolveName(status, { cluster: context.args.text("cluster"), node: name });
  return {
    path: `/drains/${encodeURIComponent(cluster)}/${encodeURIComponent(node ?? "")}`,
    subject: `${cluster}/${node}`,
    server,
    cluster: status.clusters.find((one) => one.cluster === cluster),
    node: node ?? "",
  };
}

/** Reports a request that rolecall rejected as a finding (RC070). The check is complete: rolecall has decided. */
function diagnoseRejection({ result }: CommandContext, subject: string, reply: RolecallReply): void {
  result.cover("drain", "complete", { detail: `${subject}: rejected` });
  const action = refusalAction(reply, "Check the names of cluster and node, and the duration.");
  result.diagnose("RC070", { message: `${reply.status}: ${replyMessage(reply)}`, action });
}
