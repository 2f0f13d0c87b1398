import { parseJson } from "../../cluster/values/json.ts";
import { messageOf, type Call, type Server } from "./server.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { safeLines } from "../output/style.ts";

/** How long a management call may take unless `--timeout` says: a switchover takes 2 to 20 s, a restart longer. */
export const patience = "2min";

/** The time of a schedule must say its zone, or nodes in other zones would disagree (seeds/node-api.md, `scheduled_at`). */
export const instantPattern: RegExp = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Sends a management call and tells how it went. 2xx is done or scheduled; anything else is a finding with the node's own
 * words, exit code 1. With `--dry-run` the gateway only says what would happen.
 * @param path of the call, as `/clusters/demo/switchover`
 */
export async function callManagement(context: CommandContext, server: Server, call: Call): Promise<void> {
  const { args, result, print, progress } = context;
  progress.say(`${call.method} ${call.path}: waiting for the answer`);
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
    result.diagnose("RC060", { message: `${call.method} ${call.path} answered ${reply.status}: ${messageOf(reply)}` });
    return;
  }
  const text = document === undefined ? reply.text.trim() : JSON.stringify(document, null, 2);
  print(`${isDryRun ? "would be: " : ""}${safeLines(text === "" ? reply.phrase : text)}\n`);
}

/** The path of a call to a cluster, or where none is named to the only one. */
export function clusterPath({ args }: CommandContext, call: string): string {
  const cluster = args.text("cluster");
  return cluster === null ? `/${call}` : `/clusters/${encodeURIComponent(cluster)}/${call}`;
}
