import { type ClusterStatus, fetchStatusFrom, selectCluster } from "../../core/command/client/cluster-status.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";

/** Whether the command probes the nodes itself instead of querying a running rolecall. */
export function isLocal({ args }: CommandContext): boolean {
  const hasServer = args.text("server") !== null || args.text("context") !== null;
  return !hasServer && (args.text("config") !== null || args.text("discover") !== null);
}

/**
 * Fetches the status of the clusters from the running rolecall; or, if the command line names a configuration or a
 * seed, by probing the nodes, once or for the time of `--for`. `--cluster` selects one cluster.
 * @throws CommandError if the status cannot be fetched, or if there is no such cluster
 */
export async function fetchStatus(
  context: CommandContext,
  onInterrupt: (status: ClusterStatus) => void = () => {},
): Promise<ClusterStatus> {
  // The probes and their client are loaded only where nodes are probed.
  const status = await (isLocal(context)
    ? (await import("./probed-status.ts")).probeStatus(context, onInterrupt)
    : fetchStatusFrom(new RolecallClient(context, "admin")));
  return selectCluster(context, status);
}
