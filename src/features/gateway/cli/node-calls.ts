import { confirm } from "../../../core/command/framework/confirm.ts";
import {
  callManagementApi,
  clusterPath,
  managementTimeout,
  nodeCallPath,
} from "../../../core/command/client/management-call.ts";
import { namedCandidate, namedCluster } from "../../../core/command/client/named-target.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";

/** `rolecall cluster failover --to NODE`: makes a candidate the leader, even without the current leader. */
export async function failover(context: CommandContext): Promise<void> {
  const candidate = namedCandidate(context);
  if (candidate === null) throw new CommandError("RC001", "--to must be a node, got nothing");
  const server = new RolecallClient(context, "node", managementTimeout);
  await confirm(
    context,
    `This makes ${candidate} the leader without the consent of the current one; ` +
      "writes that it has not received are lost",
  );
  return callManagementApi(context, server, {
    method: "POST",
    path: clusterPath(namedCluster(context), "failover"),
    body: { candidate },
    purpose: `make ${candidate} the leader without the consent of the current one`,
  });
}

/** `rolecall node reload NODE`: makes a node reload its configuration file. */
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

/** `rolecall node reinitialize NODE`: rebuilds a replica from scratch. */
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
