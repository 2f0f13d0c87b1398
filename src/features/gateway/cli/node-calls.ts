import { confirm } from "../../../core/command/framework/confirm.ts";
import {
  callManagementApi,
  clusterPath,
  managementTimeout,
  nodeCallPath,
} from "../../../core/command/client/management-call.ts";
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

/** `rolecall reload NODE`: makes a node reload its configuration file. */
export async function reloadNode(context: CommandContext): Promise<void> {
  const { path, name } = nodeCallPath(context, "reload");
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
  const { path, name } = nodeCallPath(context, "reinitialize");
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
