import { confirm } from "../framework/confirm.ts";
import { callManagement, patience } from "../client/management-call.ts";
import { splitName } from "../client/node-name.ts";
import { Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { timeOf } from "./switchover.ts";

/** `rolecall restart NODE`: now, at a time, under conditions; or removes what was scheduled. */
export async function restartNode(context: CommandContext): Promise<void> {
  const { args } = context;
  const { path, name } = nodePath(context, "restart");
  const server = new Server(context, "node", patience);
  if (args.has("cancel")) {
    await confirm(context, `The scheduled restart of ${name} is removed`);
    return callManagement(context, server, { method: "DELETE", path });
  }
  const at = timeOf(context);
  const role = args.text("role");
  const version = args.text("version");
  const body = {
    ...(args.has("pending") ? { restart_pending: true } : {}),
    ...(role === null ? {} : { role }),
    ...(version === null ? {} : { postgres_version: version }),
    ...(args.text("wait") === null ? {} : { timeout: Math.ceil(args.duration("wait", "1s") / 1000) }),
    ...(at === null ? {} : { schedule: at }),
  };
  await confirm(context, `The database of ${name} is restarted${at === null ? " now" : ` at ${at}`}`);
  return callManagement(context, server, { method: "POST", path, body });
}

/** `rolecall reload NODE`. */
export async function reloadNode(context: CommandContext): Promise<void> {
  const { path, name } = nodePath(context, "reload");
  await confirm(context, `${name} reads its configuration file again`);
  return callManagement(context, new Server(context, "node", patience), { method: "POST", path, body: {} });
}

/** `rolecall reinitialize NODE`. */
export async function reinitializeNode(context: CommandContext): Promise<void> {
  const { args } = context;
  const { path, name } = nodePath(context, "reinitialize");
  await confirm(context, `All data of ${name} is removed and made anew`);
  const body = {
    ...(args.has("force") ? { force: true } : {}),
    ...(args.has("from-leader") ? { "from-leader": true } : {}),
  };
  return callManagement(context, new Server(context, "node", patience), { method: "POST", path, body });
}

function nodePath({ args }: CommandContext, call: string): { readonly path: string; readonly name: string } {
  const [name = ""] = args.positionals;
  const { cluster: inName, node } = splitName(name);
  const cluster = args.text("cluster") ?? inName;
  const base = cluster === null ? "" : `/clusters/${encodeURIComponent(cluster)}`;
  return { path: `${base}/nodes/${encodeURIComponent(node)}/${call}`, name };
}
