import { oneNodeRoutes, routeOf } from "../../core/health/route.ts";
import { requireRoute } from "../../core/command/client/check-argument.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { safe } from "../../core/command/output/style.ts";
import { startCommand } from "../watch/child-command.ts";
import { commandVariables } from "../watch/command-variables.ts";
import type { FitNode } from "../watch/fit-nodes.ts";
import { followFitNodes } from "../watch/fit-nodes-feed.ts";
import { LatestRun, type RunningCommand, type RunRequest } from "../watch/latest-run.ts";

/** The first and the longest time between two attempts of a command that fails, in ms. */
const retryMs = [1_000, 30_000] as const;
/** How long a command may go on after SIGTERM, in ms. */
const graceMs = 5_000;

/**
 * `rolecall watch CLUSTER --exec COMMAND`: runs a command with the nodes that are fit for a check, at the start and
 * whenever they change, until a signal ends it. A last run that failed is a finding (RC033, exit code 1).
 */
export async function watchCluster(context: CommandContext): Promise<void> {
  const { args, result, signal } = context;
  const [cluster = ""] = args.positionals;
  const check = pathOf(args.text("check") ?? "/primary");
  const line = args.text("exec");
  if (line === null) throw new CommandError("RC001", "--exec must be given: the command to run");
  requireRoute(check);
  const report = (text: string): void =>
    context.print(`${new Date().toISOString()} ${safe(`${cluster} ${check}: ${text}`)}\n`);
  const runs = new LatestRun({
    start: runnerOf(context, { cluster, check, line }, report),
    retryMs,
    onRetry: (delayMs) => report(`the next attempt is in ${delayMs / 1_000} s`),
  });
  let obstacle: string | null = null;
  try {
    await followFitNodes({
      server: new RolecallClient(context, "admin"),
      target: { cluster, check },
      isSole: oneNodeRoutes.has(routeOf(routeNameOf(check)) ?? "primary"),
      signal,
      onNodes: (nodes) => runs.offer(nodes),
      onObstacle: (why) => {
        if (why !== obstacle && why !== null) report(`nothing runs: ${why}`);
        obstacle = why;
      },
    });
  } finally {
    await runs.stop(signal.reason === "SIGINT" ? "SIGINT" : "SIGTERM");
  }
  result.cover("service", "complete", { detail: `ended by ${String(signal.reason)}` });
  if (!runs.isSettled)
    result.diagnose("RC033", { message: `the last run of the command for ${cluster} ${check} did not succeed` });
}

/** Starts the command, and reports its start and its end. */
function runnerOf(
  { args, io, format }: CommandContext,
  { line, ...watched }: { readonly cluster: string; readonly check: string; readonly line: string },
  report: (text: string) => void,
): (request: RunRequest) => RunningCommand {
  const limitMs = args.duration("exec-timeout", "30s");
  return (request) => {
    const { nodes, attempt } = request;
    report(`${namesOf(nodes)}: the command starts${attempt > 1 ? ` (attempt ${attempt})` : ""}`);
    const { ended, end } = startCommand({
      line,
      env: { ...io.env, ...commandVariables(watched, request, new Date()) },
      // A document on stdout must stay alone.
      stdio: ["ignore", format === "text" ? "inherit" : process.stderr, "inherit"],
      limitMs,
      graceMs,
    });
    const succeeded = ended.then(({ succeeded: hasSucceeded, how, durationMs }) => {
      report(`${namesOf(nodes)}: the command ended with ${how} after ${Math.round(durationMs)} ms`);
      return hasSucceeded;
    });
    return { succeeded, end };
  };
}

function namesOf(nodes: readonly FitNode[]): string {
  return nodes.map(({ node }) => node).join(", ");
}

function pathOf(check: string): string {
  return check.startsWith("/") ? check : `/${check}`;
}

/** The name of the route in a check, such as `replica` in `/replica?lag=1MB`. */
function routeNameOf(check: string): string {
  return check.replace(/\?.*$/s, "").replaceAll("/", "");
}
