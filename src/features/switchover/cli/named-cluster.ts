import { oneOf } from "../../../core/cluster/values/one-of.ts";
import { fetchStatusFrom } from "../../../core/command/client/cluster-status.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import { namedCluster } from "../../../core/command/client/named-target.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";

/**
 * The cluster that the command names, or the only one of the server.
 * @throws CommandError (RC001) if the server has several; another one if no admin listener of it answers
 */
export async function requireCluster(context: CommandContext): Promise<string> {
  const named = namedCluster(context);
  if (named !== null) return named;
  const { clusters } = await fetchStatusFrom(new RolecallClient(context, "admin"));
  const [only] = clusters;
  if (only !== undefined && clusters.length === 1) return only.cluster;
  const names = clusters.map(({ cluster }) => cluster);
  throw new CommandError("RC001", `CLUSTER must be given: ${oneOf(names, "cluster")}`);
}

/**
 * The name of the only cluster, as an admin listener has it: health listeners need it in a path, unless they answer for
 * one cluster. `null` if there are several, or no admin listener answers.
 */
export async function onlyCluster(context: CommandContext): Promise<string | null> {
  try {
    return await requireCluster(context);
  } catch (error) {
    if (error instanceof CommandError) return null;
    throw error;
  }
}
