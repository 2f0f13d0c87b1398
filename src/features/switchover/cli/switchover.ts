import { parseClusterDocument } from "../../../core/cluster/documents/cluster-document.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { confirm } from "../../../core/command/framework/confirm.ts";
import {
  callManagementApi,
  clusterPath,
  managementTimeout,
  scheduledTime,
} from "../../../core/command/client/management-call.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { namedCandidate, namedCluster } from "../../../core/command/client/named-target.ts";
import { onlyCluster } from "./named-cluster.ts";
import { resumePaused, seamlessSwitchover } from "./seamless.ts";

/** Options of a seamless switchover. */
const seamlessOnly: readonly string[] = ["deadline", "route-wait", "unguarded"];
/** Options that exclude each other. */
const ways: readonly string[] = ["seamless", "resume", "cancel", "at"];

/**
 * `rolecall switchover`: switches over now or at a time, or cancels a scheduled switchover; or lets the server switch over
 * while clients wait.
 */
export async function runSwitchover(context: CommandContext): Promise<void> {
  const { args } = context;
  refuseContradictions(context);
  if (args.has("seamless")) return seamlessSwitchover(context);
  if (args.has("resume")) return resumePaused(context);
  const cluster = namedCluster(context);
  const server = new RolecallClient(context, "node", managementTimeout);
  const path = clusterPath(cluster, "switchover");
  if (args.has("cancel")) {
    await confirm(context, "This cancels the scheduled switchover");
    return callManagementApi(context, server, { method: "DELETE", path, purpose: "cancel the scheduled switchover" });
  }
  const at = scheduledTime(context);
  const candidate = namedCandidate(context);
  const leader = args.text("leader") ?? (await currentLeader(context, server, cluster));
  const roles = `from ${leader} to ${candidate ?? "the node that the cluster elects"}${at === null ? " now" : ` at ${at}`}`;
  await confirm(context, `This switches over ${roles}`);
  const body = { leader, ...(candidate === null ? {} : { candidate }), ...(at === null ? {} : { scheduled_at: at }) };
  return callManagementApi(context, server, { method: "POST", path, body, purpose: `switch over ${roles}` });
}

/** @throws CommandError (RC001) if options do not belong together */
function refuseContradictions({ args }: CommandContext): void {
  const isGiven = (name: string): boolean => args.has(name) || args.text(name) !== null;
  const [first, second] = ways.filter(isGiven);
  if (first !== undefined && second !== undefined)
    throw new CommandError("RC001", `--${first} must be given without --${second}`);
  if (args.has("resume") && args.has("dry-run"))
    throw new CommandError("RC001", "--resume must be given without --dry-run");
  const stray = seamlessOnly.find(isGiven);
  if (stray !== undefined && first !== "seamless")
    throw new CommandError("RC001", `--${stray} must be given with --seamless`);
}

/** The leader in the cluster document. The call must name it, so that no other node is switched over by mistake. */
async function currentLeader(context: CommandContext, server: RolecallClient, cluster: string | null): Promise<string> {
  const path = clusterPath(cluster ?? (await onlyCluster(context)), "cluster");
  const document = parseClusterDocument(await server.getObject(path));
  if (document === undefined || document.leader === null)
    throw new CommandError(
      "RC007",
      "Cannot find the leader: the cluster document names none; pass --leader, or use rolecall cluster failover",
    );
  return document.leader;
}
