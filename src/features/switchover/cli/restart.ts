import { fetchStatusFrom } from "../../../core/command/client/cluster-status.ts";
import {
  callManagementApi,
  managementTimeout,
  nodeCallPath,
  scheduledTime,
} from "../../../core/command/client/management-call.ts";
import { resolveName, splitGivenName } from "../../../core/command/client/node-name.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { confirm } from "../../../core/command/framework/confirm.ts";
import { beginAndFollow } from "./seamless.ts";

/** Options that a seamless restart does not take: its conditions are looked at before clients wait. */
const plainOnly: readonly string[] = ["at", "cancel", "role", "version", "wait"];
/** Options of a seamless restart. */
const seamlessOnly: readonly string[] = ["deadline", "unguarded"];

/** `rolecall node restart NODE`: restarts its database now or at a time, with conditions, or cancels a scheduled restart. */
export async function restartNode(context: CommandContext): Promise<void> {
  const { args } = context;
  refuseContradictions(context);
  if (args.has("seamless")) return seamlessRestart(context);
  const { path, name } = nodeCallPath(context, "restart");
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

/** `rolecall node restart NODE --seamless`: asks the server for a restart during which the clients of poolers wait. */
async function seamlessRestart(context: CommandContext): Promise<void> {
  const { args } = context;
  const { cluster, node } = await namedNode(context);
  const body = {
    seamless: true,
    ...(args.has("pending") ? { restart_pending: true } : {}),
    deadline: `${args.duration("deadline", "15s")}ms`,
    unguarded: args.has("unguarded"),
  };
  await confirm(context, `This restarts the database of ${node}, and lets the clients wait whose poolers lead there`);
  const path = `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/restart`;
  return beginAndFollow(context, { cluster, what: "restart", path, body });
}

/** The node that the command names, with its cluster. @throws CommandError as {@link splitGivenName}, and if several have it */
async function namedNode(context: CommandContext): Promise<{ readonly cluster: string; readonly node: string }> {
  const { args } = context;
  const given = { cluster: args.text("cluster"), node: args.positionals[0] ?? "" };
  const { cluster, node } = splitGivenName(given);
  if (cluster !== null) return { cluster, node: node ?? "" };
  const found = resolveName(await fetchStatusFrom(new RolecallClient(context, "admin")), given);
  return { cluster: found.cluster, node: found.node ?? "" };
}

/** @throws CommandError (RC001) if options do not belong together */
function refuseContradictions({ args }: CommandContext): void {
  const isGiven = (name: string): boolean => args.has(name) || args.text(name) !== null;
  const wrong = plainOnly.find(isGiven);
  if (args.has("seamless") && wrong !== undefined)
    throw new CommandError("RC001", `--${wrong} must be given without --seamless`);
  const stray = seamlessOnly.find(isGiven);
  if (!args.has("seamless") && stray !== undefined)
    throw new CommandError("RC001", `--${stray} must be given with --seamless`);
}
