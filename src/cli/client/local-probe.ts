import { probeOnce, type ProbedClusters } from "../../app/probe-once.ts";
import type { Config } from "../../config/model/config.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** Where a local probe reports progress and problems. */
export interface ProbeReporter {
  readonly progress: Pick<CommandContext["progress"], "report" | "done">;
  readonly result: Pick<CommandContext["result"], "diagnose">;
}

/**
 * Probes every node once from this process, and shows progress meanwhile. Problems with TLS files become findings
 * (RC111).
 */
export async function probeLocally(config: Config, { progress, result }: ProbeReporter): Promise<ProbedClusters> {
  progress.report("probing the nodes once");
  try {
    return await probeOnce(config, (cluster, problem) =>
      result.diagnose("RC111", { message: `TLS of cluster ${cluster}: ${problem}` }),
    );
  } finally {
    progress.done();
  }
}
