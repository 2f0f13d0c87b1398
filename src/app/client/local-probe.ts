import { type LocalProbing, probeOnce, startProbes } from "../machine/probe-once.ts";
import { localNodeFinders } from "../registry/node-finders.ts";
import { featureProbes } from "../registry/node-probes.ts";
import type { LocalProbes } from "../../core/command/client/probed-clusters.ts";
import type { ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Config } from "../../core/config/model/config.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { parseDuration } from "../../core/cluster/values/duration.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { formatDuration } from "../../core/command/output/figures.ts";

/** Where a local probe reports progress and problems. */
export interface ProbeReporter {
  readonly progress: Pick<CommandContext["progress"], "report" | "done">;
  readonly result: Pick<CommandContext["result"], "diagnose">;
}

/** How long a command watches the nodes, and when it may stop early. */
export interface LocalWatch {
  /** Without `--for`, in ms; 0: the nodes are probed once. */
  readonly defaultMs: number;
  /** Whether what is known is enough. */
  readonly isDone: (probed: ProbedClusters) => boolean;
  /** Reports what is known when the user interrupts the command. */
  readonly onInterrupt: (probed: ProbedClusters) => void;
}

/**
 * Probes every node once from this process, and shows progress meanwhile. Problems with TLS files become findings
 * (RC111).
 */
export async function probeLocally(config: Config, { progress, result }: ProbeReporter): Promise<ProbedClusters> {
  progress.report("probing the nodes once");
  try {
    return await probeOnce(config, probingFor(result));
  } finally {
    progress.done();
  }
}

/**
 * Probes every node as {@link probeLocally} does, and goes on until enough is known, at most for the time of `--for`.
 * @throws CommandError (RC001) if the value of `--for` is not valid
 */
export async function watchLocally(
  config: Config,
  context: CommandContext,
  { defaultMs, isDone, onInterrupt }: LocalWatch,
): Promise<ProbedClusters> {
  const { args, progress, result, signal } = context;
  const forMs = watchTime(args.text("for"), defaultMs);
  progress.report("probing the nodes");
  const onProgress = (probed: ProbedClusters): void => {
    context.onInterrupt(() => onInterrupt(probed));
    progress.report(
      `watching whether replicas are attached: ${formatDuration(probed.watchedMs())} of at most ` +
        `${formatDuration(forMs)}, Ctrl-C shows what is known`,
    );
  };
  try {
    return await probeOnce(config, probingFor(result), { forMs, isDone, signal, onProgress });
  } finally {
    progress.done();
  }
}

/** Probes every node from this process until the caller stops it, for a command that shows the status repeatedly. */
export async function startProbing(config: Config, { result }: Pick<ProbeReporter, "result">): Promise<LocalProbes> {
  const probes = startProbes(config, probingFor(result));
  await probes.firstRound;
  probes.startWatch();
  return probes;
}

/** How long a watch must be to find a detached replica: the longest attach_window, and two probes. In ms. */
export function attachmentTime({ clusters, probe }: Config): number {
  return Math.max(...clusters.map(({ guards }) => guards.attachWindowMs)) + 2 * probe.intervalMs;
}

function watchTime(text: string | null, defaultMs: number): number {
  const ms = text === null ? defaultMs : parseDuration(text);
  if (ms === undefined)
    throw new CommandError("RC001", `--for must be a duration such as 12s or 0s, got ${JSON.stringify(text)}`);
  return ms;
}

function probingFor(result: ProbeReporter["result"]): LocalProbing {
  const onTlsProblem = (cluster: string, problem: string): void =>
    result.diagnose("RC111", { message: `TLS of cluster ${cluster}: ${problem}` });
  return { find: featureProbes, finders: localNodeFinders, onTlsProblem };
}
