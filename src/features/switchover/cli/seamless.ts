import { setTimeout as pause } from "node:timers/promises";
import { isObject, type JsonObject, listOf, parseJson } from "../../../core/cluster/values/json.ts";
import { refusalAction } from "../../../core/command/client/refusal.ts";
import { replyMessage, RolecallClient, type RolecallReply } from "../../../core/command/client/rolecall-client.ts";
import { nextCommand } from "../../../core/command/client/next-command.ts";
import { confirm } from "../../../core/command/framework/confirm.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { safe } from "../../../core/command/output/style.ts";
import { namedCandidate } from "../../../core/command/client/named-target.ts";
import { requireCluster } from "./named-cluster.ts";
import { endLines, isAsAsked, isGood, isSettledWell, isUnchanged, newLines, nothingPrinted } from "./run-text.ts";
import { readShownRun, type ShownRun } from "./shown-run.ts";

/** Between two looks at a run, in ms. */
const pollMs = 100;

/** What to do if a run cannot be followed to its end. */
const leftAction =
  "Run rolecall status to see who leads. What is paused is resumed by the guardian process, a peer, or the next start.";

/**
 * `rolecall switchover CLUSTER --seamless`: asks the server for a switchover during which the clients of poolers wait,
 * and prints its steps until its end. A run that does not end well is a finding: RC210 if nothing was changed, RC212 for
 * each pooler that it could not finish, RC213 if another node leads than was asked for, else RC211.
 */
export async function seamlessSwitchover(context: CommandContext): Promise<void> {
  const { args } = context;
  const cluster = await requireCluster(context);
  const [leader, candidate] = [args.text("leader"), namedCandidate(context)];
  const to = candidate ?? "the node that the cluster elects";
  const body = {
    seamless: true,
    leader,
    candidate,
    deadline: `${args.duration("deadline", "15s")}ms`,
    route_wait: `${args.duration("route-wait", "1s")}ms`,
    unguarded: args.has("unguarded"),
  };
  await confirm(context, `This switches ${cluster} over to ${to}, and lets the clients of its poolers wait meanwhile`);
  return beginAndFollow(context, { cluster, what: "switchover", path: pathOf(cluster, ""), body });
}

/** What the server is asked to do while clients wait. */
interface SeamlessCall {
  readonly cluster: string;
  readonly what: "restart" | "switchover";
  readonly path: string;
  readonly body: JsonObject;
}

/** Sends the call, and prints the steps of the run until its end. With `--dry-run` it is only checked. */
export async function beginAndFollow(
  context: CommandContext,
  { cluster, what, path: base, body }: SeamlessCall,
): Promise<void> {
  const { args, result } = context;
  const server = new RolecallClient(context, "admin");
  const path = `${base}${args.has("dry-run") ? "?dry_run=1" : ""}`;
  const reply = await server.call({ method: "POST", path, body });
  const begun = parseJson(reply.text);
  if (reply.status !== 202 || !isObject(begun) || typeof begun["run"] !== "string")
    return reportRefusal(context, `POST ${path}`, { reply, what });
  result.cover("call", "complete", { detail: `POST ${path}: ${reply.status}` });
  const last = await follow(context, server, { cluster, what, run: begun["run"] });
  if (last !== null) conclude(context, last);
}

/** `rolecall switchover CLUSTER --resume`: lifts what is paused on the poolers of a cluster, also what an operator has paused. */
export async function resumePaused(context: CommandContext): Promise<void> {
  const { result, print } = context;
  const cluster = await requireCluster(context);
  await confirm(
    context,
    `This resumes every database of the poolers of ${cluster}, also those that an operator has paused`,
  );
  const path = pathOf(cluster, "/resume");
  const reply = await new RolecallClient(context, "admin").call({ method: "POST", path, body: {} });
  const answer = parseJson(reply.text);
  if (reply.status !== 200 || !isObject(answer)) return reportRefusal(context, `POST ${path}`, { reply });
  result.cover("call", "complete", { detail: `POST ${path}: ${reply.status}` });
  result.data = answer;
  for (const target of listOf(answer["resumed"])) print(`${safe(String(target))} is not paused\n`);
  for (const problem of listOf(answer["problems"]).filter(isObject))
    result.diagnose("RC211", {
      message: `${safe(String(problem["target"]))} may still be paused: ${safe(String(problem["problem"]))}`,
      action: "Send RESUME to the console of this PgBouncer, and run rolecall doctor.",
    });
}

/** Prints the steps of a run until it ends. @returns `null` if it cannot be followed to its end: that is a finding */
async function follow(
  context: CommandContext,
  server: RolecallClient,
  { cluster, what, run }: Pick<SeamlessCall, "cluster" | "what"> & { readonly run: string },
): Promise<ShownRun | null> {
  const { result, print, style, signal, onInterrupt } = context;
  onInterrupt(() => `The ${what} goes on at the server. ${nextCommand(context, { name: "status" })} shows who leads.`);
  const path = pathOf(cluster, `/run?run=${encodeURIComponent(run)}`);
  let printed = nothingPrinted;
  let silentSinceMs: number | null = null;
  for (;;) {
    const reply = await answerOf(server, path);
    if (reply === null) {
      silentSinceMs ??= performance.now();
      if (performance.now() - silentSinceMs >= server.timeoutMs) return lost(context, `${server.url} does not answer`);
    } else {
      silentSinceMs = null;
      const document = parseJson(reply.text);
      const shown = reply.status === 200 && isObject(document) ? readShownRun(document) : null;
      if (shown === null || shown.run !== run)
        return lost(context, shown === null ? replyMessage(reply) : `another one (${shown.run}) has begun since`);
      result.data = document;
      const lines = newLines(shown, printed, style);
      printed = lines.printed;
      if (lines.text !== "") print(lines.text);
      if (shown.outcome !== null) return shown;
    }
    await pause(pollMs, undefined, { signal }).catch(() => {}); // the next request reports the abort
  }
}

/**
 * The answer; `null` if the server cannot be reached now, or has none for the moment. The run goes on there, or ends with
 * its process.
 */
async function answerOf(server: RolecallClient, path: string): Promise<RolecallReply | null> {
  try {
    const reply = await server.get(path);
    return reply.status === 429 || reply.status >= 500 ? null : reply;
  } catch (error) {
    if (error instanceof CommandError && error.rule === "RC005") return null;
    throw error;
  }
}

function conclude({ result, print }: CommandContext, run: ShownRun): void {
  const { cluster, outcome, text } = run;
  print(endLines(run));
  result.cover("run", "complete", { detail: `it ended as ${outcome}` });
  if (isGood(run)) return;
  const { left, settled, node, candidate, restarted } = run;
  for (const { target, state, problem } of left) {
    const why = problem === null ? "" : `: ${problem}`;
    const message =
      state === "paused"
        ? `${cluster}: clients of ${target} may still wait${why}`
        : `${cluster}: ${target} was not seen to lead to ${node ?? "the primary"}${why}`;
    result.diagnose("RC212", { message: safe(message), action: safe(leftActionOf(target, state, cluster)) });
  }
  if (isSettledWell(run) && left.length > 0) return;
  const message = `${cluster}: ${text ?? outcome}`;
  if (settled === "switched" && !isAsAsked(run))
    result.diagnose("RC213", {
      message:
        restarted === null
          ? `${cluster}: ${safe(node ?? "another node")} is the primary, not ${safe(candidate ?? "")} as asked`
          : `${cluster}: ${safe(node ?? "another node")} is the primary: ${safe(restarted)} did not come back as the primary`,
    });
  else result.diagnose(isUnchanged(run) ? "RC210" : "RC211", { message });
}

/** What to do about a database of a pooler that is not as it should be. */
function leftActionOf(target: string, state: string, cluster: string): string {
  if (state === "paused")
    return `rolecall goes on to resume it. Check the PgBouncer of ${target}, or run rolecall switchover ${cluster} --resume.`;
  return `rolecall goes on to lead it. Check the file and the console of ${target} with rolecall doctor.`;
}

function lost({ result }: CommandContext, why: string): null {
  result.cover("run", "incomplete", { detail: "not followed to its end", required: true });
  result.diagnose("RC211", { message: `Cannot follow the switchover to its end: ${why}`, action: leftAction });
  return null;
}

/** The server did not begin it. */
function reportRefusal(
  { result }: CommandContext,
  call: string,
  { reply, what = "switchover" }: { readonly reply: RolecallReply; readonly what?: SeamlessCall["what"] },
): void {
  result.cover("call", "complete", { detail: `${call}: ${reply.status}` });
  const message = `${call} answered ${reply.status}: ${replyMessage(reply)}`;
  if (reply.status < 300)
    return result.diagnose("RC211", {
      message: `${message}. The server may be of a version that has done so without letting clients wait`,
    });
  result.diagnose("RC060", {
    message,
    action: `${actionOf(reply, what)} Nothing was changed.`,
  });
}

/** What to do about a refusal. Where a plain switchover needs a health listener, this needs an admin listener. */
function actionOf(reply: RolecallReply, what: SeamlessCall["what"]): string {
  const document = parseJson(reply.text);
  const error = isObject(document) ? document["error"] : null;
  if (error === "management_off") return "Set management: on, and auth, for the admin listener of rolecall.";
  if (error === "unauthenticated") return "Set auth for the admin listener, and pass its credential (--token-file).";
  if (error === "running") return "Wait until it has ended.";
  if (error === "no_pooler")
    return `Configure poolers, or ${what === "restart" ? "restart" : "switch over"} without --seamless.`;
  return refusalAction(reply, "Read the message.");
}

function pathOf(cluster: string, rest: string): string {
  return `/clusters/${encodeURIComponent(cluster)}/switchover${rest}`;
}
