import { openStatusSource } from "../../app/client/status-source.ts";
import type { ClusterStatus } from "../../core/command/client/cluster-status.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { Progress } from "../../core/command/output/progress.ts";
import { safe } from "../../core/command/output/style.ts";
import { reportText } from "../status/report.ts";
import { pause, tryFetchStatus } from "../status/watch/refresh.ts";
import { watchScreen } from "../status/watch/watch-screen.ts";

/**
 * `rolecall status --watch`: refreshes a terminal until `q` or Ctrl-C, which both exit with 0. Shows an error if the
 * server does not answer, and retries. If stdout is no terminal, prints one report after the other.
 */
export async function watch(context: CommandContext): Promise<void> {
  const { args, io, result } = context;
  if (context.format !== "text")
    throw new CommandError("RC001", `--watch cannot be used with ${context.format} output, which is one document`);
  const intervalMs = args.duration("interval", "1s");
  // A line of progress would be written over the table.
  const quiet = { ...context, progress: new Progress(io.stderr, false) };
  const last = await (io.stdout.isTerminal ? watchScreen(quiet, intervalMs) : printReports(quiet, intervalMs));
  result.cover("overview", last === null ? "incomplete" : "complete", {
    detail: last === null ? "no status was received" : last.by,
  });
}

/** Prints a report each interval, until the command is ended. */
async function printReports(context: CommandContext, intervalMs: number): Promise<ClusterStatus | null> {
  const { io, signal } = context;
  const source = openStatusSource(context);
  let last: ClusterStatus | null = null;
  try {
    while (!signal.aborted) {
      const current = await tryFetchStatus(source, context);
      if (signal.aborted) break;
      const text = "problem" in current ? `${safe(current.problem)}\n` : reportText(context, (last = current));
      await io.stdout.write(`${new Date().toISOString().slice(0, 19)}Z  ${text}\n`);
      await pause(intervalMs, [signal]);
    }
  } finally {
    source.close();
  }
  return last;
}
