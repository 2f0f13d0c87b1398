import { parseJson } from "../../cluster/values/json.ts";
import { refusalAction } from "./refusal.ts";
import { replyMessage, type RolecallRequest, type RolecallClient } from "./rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { safeLines } from "../output/style.ts";

/** The default timeout of a management call: a switchover takes 2 to 20 s, a restart longer. */
export const managementTimeout = "2min";

/**
 * A timestamp with a time zone. Without the zone, nodes in different zones would disagree about the time of a schedule
 * (seeds/node-api.md, `scheduled_at`).
 */
export const timestampPattern: RegExp = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Sends a management call and reports the result. A status of 2xx means done or scheduled. Any other status is a
 * finding with the message of the node (exit code 1). With `--dry-run` the gateway only reports what would happen.
 */
export async function callManagementApi(
  context: CommandContext,
  server: RolecallClient,
  call: RolecallRequest,
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
  if (!isDone) {
    result.diagnose("RC060", {
      message: `${call.method} ${call.path} answered ${reply.status}: ${replyMessage(reply)}`,
      action: refusalAction(reply, "rolecall refused the call before it reached a node: read the message."),
    });
    return;
  }
  const text = document === undefined ? reply.text.trim() : JSON.stringify(document, null, 2);
  print(`${isDryRun ? "dry run: " : ""}${safeLines(text === "" ? reply.phrase : text)}\n`);
}

/** The path of a call to the cluster of `--cluster`; without that option, to the only cluster. */
export function clusterPath({ args }: CommandContext, call: string): string {
  const cluster = args.text("cluster");
  return cluster === null ? `/${call}` : `/clusters/${encodeURIComponent(cluster)}/${call}`;
}
