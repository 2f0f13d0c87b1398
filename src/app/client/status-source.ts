import type { LocalProbes } from "../../core/command/client/probed-clusters.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { probedStatus } from "./attachment.ts";
import { selectCluster, type ClusterStatus } from "../../core/command/client/cluster-status.ts";
import { fetchStatus, isLocal } from "./fetch-status.ts";
import { requireNamedConfig } from "./probed-status.ts";
import { startProbing } from "./local-probe.ts";

/** Where a command that shows the status again and again gets it from. */
export interface StatusSource {
  /** @throws CommandError if the status cannot be fetched, or if there is no cluster of that name */
  fetch(context: CommandContext): Promise<ClusterStatus>;
  close(): void;
}

/**
 * Opens the source of the status: a running rolecall, or probes of this process if the command line names a
 * configuration or a seed. Such probes go on from one status to the next, so that time lag and attachment become known.
 */
export function openStatusSource(context: CommandContext): StatusSource {
  return isLocal(context) ? new ProbedStatus() : { fetch: (current) => fetchStatus(current), close: () => {} };
}

class ProbedStatus implements StatusSource {
  #probes: LocalProbes | null = null;
  #isClosed = false;

  async fetch(context: CommandContext): Promise<ClusterStatus> {
    this.#probes ??= await startProbing(await requireNamedConfig(context), context);
    // The command may have ended during the first round of probes.
    if (this.#isClosed) this.#probes.stop();
    return selectCluster(context, probedStatus(this.#probes.probed));
  }

  close(): void {
    this.#isClosed = true;
    this.#probes?.stop();
  }
}
