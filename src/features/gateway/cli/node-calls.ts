import { confirm } from "../../../core/command/framework/confirm.ts";
import {
  callManagementApi,
  clusterPath,
  managementTimeout,
  scheduledTime,
} from "../../../core/command/client/management-call.ts";
import { splitGivenName } from "../../../core/command/client/node-name.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";

/** `rolecall failover --candidate NODE`: makes a candidate the leader, even without the current leader. */
export async function failover(context: CommandContext): Promise<void> {
  const candidate = context.args.text("candidate");
  if (candidate === null) throw new CommandError("RC001", "--candidate must be a node, got nothing");
  const server = new RolecallClient(context, "node", managementTimeout);
  await confirm(
    context,
    `This makes ${candidate} the leader without the consent of the current one; ` +
      "writes that it has not received are lost",
  );
  return callManagementApi(context, server, {
    method: "POST",
    path: clusterPath(context.args.text("cluster"), "failover"),
    body: { candidate },
    purpose: `make ${candidate} the leader without the consent of the current one`,
  });
}

/** `rolecall restart NODE`: restarts its database now or at a time, with conditions, or cancels a scheduled restart. */
export async function restartNode(context: CommandContext): Promise<void> {
  const { args } = context;
  const { path, name } = nodePath(context, "restart");
  const server = new RolecallClient(context, "node", managementTimeout);
  if (args.has("cancel")) {
    await confirm(context, `This cancels the scheduled restart of ${name}`);
    return callManagementApi(context, server, {
      method: "DELETE",
      path,
      purpose: `cancel the scheduled restart of ${name}`,
    });
  }
  const at = scheduledTime(context);
  const role = args.text("role");
  const version = args.text("version");
  const body = {
    ...(args.has("pending") ? { restart_pending: true } : {}),
    ...(role === null ? {} : { role }),
    ...(version === null ? {} : { postgres_version: version }),
    ...(args.text("wait") === null ? {} : { timeout: Math.ceil(args.duration("wait", "1s") / 1000) }),
    ...(at === null ? {} : { schedule: at }),
  };
  const what = `the database of ${name}${at === null ? " now" : ` at ${at}`}`;
  await confirm(context, `This restarts ${what}`);
  return callManagementApi(context, server, { method: "POST", path, body, purpose: `restart ${what}` });
}

/** `rolecall reload NODE`: makes a node reload its configuration file. */
export async function reloadNode(context: CommandContext): Promise<void> {
  const { path, name } = nodePath(context, "reload");
  await confirm(context, `This reloads the configuration file of ${name}`);
  return callManagementApi(context, new RolecallClient(context, "node", managementTimeout), {
    method: "POST",
    path,
    body: {},
    purpose: `reload the configuration file of ${name}`,
  });
}

/** `rolecall reinitialize NODE`: rebuilds a replica from scratch. */
export async function reinitializeNode(context: CommandContext): Promise<void> {
  const { args } = context;
  const { path, name } = nodePath(context, "reinitialize");
  await confirm(context, `This deletes all data of ${name} and rebuilds it`);
  const body = {
    ...(args.has("force") ? { force: true } : {}),
    ...(args.has("from-leader") ? { "from-leader": true } : {}),
  };
  return callManagementApi(context, new RolecallClient(context, "node", managementTimeout), {
    method: "POST",
    path,
    body,
    purpose: `delete all data of ${name} and rebuild it`,
  });
}

/** The path of a call, and the node as people name it. @throws CommandError (RC001) as {@link splitGivenName} */
function nodePath({ args }: CommandContext, call: string): { readonly path: string; readonly name: string } {
  const [given = ""] = args.positionals;
  const { cluster, node } = splitGivenName({ cluster: args.text("cluster"), node: given });
  const path = `/nodes/${encodeURIComponent(node ?? "")}/${call}`;
  return cluster === null
    ? { path, name: node ?? "" }
    : { path: `/clusters/${encodeURIComponent(cluster)}${path}`, name: `${cluster}/${node}` };
}
