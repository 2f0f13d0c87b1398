import { parseClusterDocument } from "../../cluster/documents/cluster-document.ts";
import { parseInstant } from "../../cluster/values/timestamp.ts";
import { CommandError } from "../../command/framework/command-error.ts";
import { confirm } from "../../command/framework/confirm.ts";
import { clusterPath, callManagementApi, managementTimeout } from "../../command/client/management-call.ts";
import { RolecallClient } from "../../command/client/rolecall-client.ts";
import type { CommandContext } from "../../command/framework/command-context.ts";
import { namedCandidate, namedCluster, onlyCluster } from "../switchover/named-cluster.ts";
import { resumePaused, seamlessSwitchover } from "../switchover/seamless.ts";

/** Options of a seamless switchover. */
const seamlessOnly: readonly string[] = ["deadline", "route-wait", "unguarded"];
/** Options that exclude each other. */
const ways: readonly string[] = ["seamless", "resume", "cancel", "at"];

/**
 * `rolecall switchover`: switches over now or at a time, or cancels a scheduled switchover; or lets the server switch over
 * while clients wait.
 */
export async function switchover(context: CommandContext): Promise<void> {
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

/**
 * Returns the time of `--at`, or `null` if it was not given. The gateway accepts the same texts. Without a time zone,
 * nodes in different zones would disagree about the time.
 * @throws CommandError (RC001) if it is no time, or has no time zone
 */
export function scheduledTime({ args }: CommandContext): string | null {
  const at = args.text("at");
  if (at !== null && parseInstant(at)?.hasZone !== true) {
    throw new CommandError(
      "RC001",
      `--at must be a time with a time zone, such as 2026-01-31T03:00:00Z, got ${JSON.stringify(at)}`,
    );
  }
  return at;
}

/** The leader in the cluster document. The call must name it, so that no other node is switched over by mistake. */
async function currentLeader(context: CommandContext, server: RolecallClient, cluster: string | null): Promise<string> {
  const path = clusterPath(cluster ?? (await onlyCluster(context)), "cluster");
  const document = parseClusterDocument(await server.getObject(path));
  if (document === undefined || document.leader === null)
    throw new CommandError(
      "RC007",
      "Cannot find the leader: the cluster document names none; pass --leader, or use rolecall failover",
    );
  return document.leader;
}
