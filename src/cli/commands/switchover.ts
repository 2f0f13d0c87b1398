import { parseClusterDocument } from "../../cluster/documents/cluster-document.ts";
import { CommandError } from "../framework/command.ts";
import { confirm } from "../framework/confirm.ts";
import { clusterPath, instantPattern, callManagement, patience } from "../client/management-call.ts";
import { Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** `rolecall switchover`: hands the leadership over, now or at a time, or removes what was scheduled. */
export async function switchover(context: CommandContext): Promise<void> {
  const { args } = context;
  const server = new Server(context, "node", patience);
  const path = clusterPath(context, "switchover");
  if (args.has("cancel")) {
    await confirm(context, "The scheduled switchover is removed");
    return callManagement(context, server, { method: "DELETE", path });
  }
  const at = timeOf(context);
  const leader = args.text("leader") ?? (await leaderOf(context, server));
  const candidate = args.text("candidate");
  await confirm(
    context,
    `The leadership goes from ${leader} to ${candidate ?? "whom the cluster elects"}${at === null ? " now" : ` at ${at}`}`,
  );
  const body = { leader, ...(candidate === null ? {} : { candidate }), ...(at === null ? {} : { scheduled_at: at }) };
  return callManagement(context, server, { method: "POST", path, body });
}

/** `rolecall failover --candidate NODE`. */
export async function failover(context: CommandContext): Promise<void> {
  const candidate = context.args.text("candidate");
  if (candidate === null) throw new CommandError("RC001", "--candidate must name who is to lead");
  const server = new Server(context, "node", patience);
  await confirm(
    context,
    `${candidate} is made the leader, whatever the present one says; writes that it has not received are lost`,
  );
  return callManagement(context, server, {
    method: "POST",
    path: clusterPath(context, "failover"),
    body: { candidate },
  });
}

/** `--at`, which needs a time zone; `null` where it was not given. @throws Stop */
export function timeOf({ args }: CommandContext): string | null {
  const at = args.text("at");
  if (at !== null && (!instantPattern.test(at) || Number.isNaN(Date.parse(at)))) {
    throw new CommandError(
      "RC001",
      `--at must be a time with a time zone, such as 2026-01-31T03:00:00Z: it is ${JSON.stringify(at)}`,
    );
  }
  return at;
}

/** The call must name the present leader, so that a switchover is never of another one than was meant. */
async function leaderOf(context: CommandContext, server: Server): Promise<string> {
  const document = parseClusterDocument(await server.getObject(clusterPath(context, "cluster")));
  if (document === undefined || document.leader === null)
    throw new CommandError("RC007", "the cluster document names no leader: say --leader, or use rolecall failover");
  return document.leader;
}
