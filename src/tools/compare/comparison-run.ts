import type { Config } from "../../core/config/model/config.ts";
import type { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { Comparison } from "./comparison.ts";
import { ComparisonFile, comparisonKey, type ComparisonState, type ResponseCounts } from "./saved-comparison.ts";

/** One run of a comparison, and what it has counted over all runs. */
export interface ComparisonRun {
  readonly comparison: Comparison;
  readonly responses: ResponseCounts;
  readonly file: ComparisonFile | null;
  readonly startedAtMs: number;
  /** How long earlier runs took in all, in ms. */
  readonly earlierRunsMs: number;
  rounds: number;
  savedAtMs: number;
}

/**
 * Begins a comparison, or goes on with the counts of `--state`.
 * @throws CommandError (RC006) if the state file cannot be used: a long comparison must not find out at its end
 */
export function startRun(
  { args }: CommandContext,
  config: Config,
  { checks, server }: { readonly checks: readonly string[]; readonly server: RolecallClient },
): ComparisonRun {
  const name = args.text("state");
  const key = comparisonKey(config, { checks, server: server.url, cluster: args.text("cluster") });
  const file = name === null ? null : new ComparisonFile(name, key);
  const earlier = file?.read() ?? null;
  const comparison = new Comparison(config.probe.maxAgeMs);
  if (earlier !== null) comparison.resume(earlier.rows);
  const nowMs = performance.now();
  const run: ComparisonRun = {
    comparison,
    responses: { ...(earlier?.heard ?? { node: 0, rolecall: 0, silent: 0 }) },
    file,
    startedAtMs: nowMs,
    earlierRunsMs: earlier?.elapsedMs ?? 0,
    rounds: earlier?.rounds ?? 0,
    savedAtMs: nowMs,
  };
  file?.write(stateOf(run));
  return run;
}

function stateOf({ rounds, earlierRunsMs, startedAtMs, responses, comparison }: ComparisonRun): ComparisonState {
  const elapsedMs = Math.round(earlierRunsMs + performance.now() - startedAtMs);
  return { rounds, elapsedMs, heard: responses, rows: comparison.rows };
}

/** Writes the state file. A full disk must not end a comparison that has run for days: it is a finding, once. */
export function save({ result }: CommandContext, run: ComparisonRun): void {
  run.savedAtMs = performance.now();
  try {
    run.file?.write(stateOf(run));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (!result.diagnostics.some(({ message }) => message === error.message))
      result.diagnose("RC006", { message: error.message });
  }
}
