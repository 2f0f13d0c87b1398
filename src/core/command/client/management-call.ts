import { parseInstant } from "../../cluster/values/timestamp.ts";
import { CommandError } from "../framework/command-error.ts";
import { readDryRun } from "./dry-run.ts";
import { parseJson } from "../../cluster/values/json.ts";
import { splitGivenName } from "./node-name.ts";
import { ownAction, refusalAction } from "./refusal.ts";
import { replyMessage, type RolecallReply, type RolecallRequest, type RolecallClient } from "./rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { safeLines } from "../output/style.ts";

/** The default timeout of a management call: a switchover takes 2 to 20 s, a restart longer. */
export const managementTimeout = "2min";

/** A management call of a command. */
export interface CommandCall extends RolecallRequest {
  /** What it does, for `--dry-run`: an infinitive, such as `reload the configuration file of pg1`. */
  readonly purpose: string;
}

/**
 * Sends a management call and reports the result. A status of 2xx means done or scheduled. Any other status is a
 * finding with the message of the node (exit code 1). With `--dry-run` the gateway only reports what would happen; a
 * call that it would refuse is a finding too.
 */
export async function callManagementApi(
  context: CommandContext,
  server: RolecallClient,
  { purpose, ...call }: CommandCall,
): Promise<void> {
  const { args, result, print, progress } = context;
  progress.report(`${call.method} ${call.path}: waiting for the response`);
  const isDryRun = args.has("dry-run");
  const reply = await server.call({ ...call, path: isDryRun ? `${call.path}?dry_run=1` : call.path });
  progress.done();
  const isDone = reply.status >= 200 && reply.status < 300;
  const document = parseJson(reply.text);
  result.cover("call", "complete", { detail: `${call.method} ${call.path}: ${reply.status}` });
  result.data = {
    method: call.method,
    path: call.path,
    body: call.body ?? null,
    dry_run: isDryRun,
    status: reply.status,
    answer: document ?? reply.text,
    node: reply.headers["x-rolecall-node"] ?? null,
    snapshot: reply.headers["x-rolecall-snapshot"] ?? null,
  };
  if (isDryRun) return reportDryRun(context, reply, { name: `${call.method} ${call.path}`, purpose });
  if (!isDone) {
    result.diagnose("RC060", {
      message: `${call.method} ${call.path} answered ${reply.status}: ${replyMessage(reply)}`,
      action: refusalAction(reply, "rolecall refused the call before it reached a node: read the message."),
    });
    return;
  }
  const text = document === undefined ? reply.text.trim() : JSON.stringify(document, null, 2);
  print(`${safeLines(text === "" ? reply.phrase : text)}\n`);
}

/** Prints what rolecall would do with a call, in a sentence. A refusal is a finding (exit code 1). */
function reportDryRun(
  { result, print }: CommandContext,
  reply: RolecallReply,
  { name, purpose }: { readonly name: string; readonly purpose: string },
): void {
  const decision = readDryRun(name, reply);
  if (decision.would === "refuse") {
    const { status, reason, message } = decision;
    const answer = [status, reason].filter((part) => part !== null && part !== "").join(" ");
    result.diagnose("RC060", {
      message: `dry run: ${name} would be refused with ${answer}: ${safeLines(message)}`,
      action: `${ownAction(reason) ?? "Correct what the message names, and run the dry run again."} Nothing was changed.`,
    });
    return;
  }
  const to = decision.node === null ? "a node" : decision.node;
  print(
    `dry run: rolecall would send ${name} to ${safeLines(to)}, to ${purpose}.\n` +
      "Nothing was changed. The node itself may still refuse the call.\n",
  );
}

/** The path of a call to a cluster. @param cluster `null`: the only one */
export function clusterPath(cluster: string | null, call: string): string {
  return cluster === null ? `/${call}` : `/clusters/${encodeURIComponent(cluster)}/${call}`;
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

/** The path of a call to the node that a command names, and the node as people name it. @throws CommandError (RC001) as {@link splitGivenName} */
export function nodeCallPath({ args }: CommandContext, call: string): { readonly path: string; readonly name: string } {
  const [given = ""] = args.positionals;
  const { cluster, node } = splitGivenName({ cluster: args.text("cluster"), node: given });
  const path = `/nodes/${encodeURIComponent(node ?? "")}/${call}`;
  return cluster === null
    ? { path, name: node ?? "" }
    : { path: `/clusters/${encodeURIComponent(cluster)}${path}`, name: `${cluster}/${node}` };
}
