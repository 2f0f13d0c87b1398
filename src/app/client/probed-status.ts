import type { Config } from "../../core/config/model/config.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { isEveryAttachmentKnown, probedStatus } from "./attachment.ts";
import { configFrom, namedByScope, sourcesOf } from "./configuration.ts";
import { watchLocally } from "./local-probe.ts";
import type { ClusterStatus } from "../../core/command/client/status-types.ts";

/**
 * Loads the configuration that the command line names. The cluster of `--discover` has the name that its nodes report.
 * @throws CommandError if the configuration has problems, which are findings then
 */
export async function requireNamedConfig({ args, io, result }: CommandContext): Promise<Config> {
  const sources = sourcesOf(args, io.env);
  const config = configFrom(sources, result);
  if (config === null) throw new CommandError("RC006", "Cannot use the configuration: it has problems");
  return (await namedByScope({ config, sources })).config;
}

/** The status of the clusters by probing their nodes, once or for the time of `--for`. */
export async function probeStatus(
  context: CommandContext,
  onInterrupt: (status: ClusterStatus) => void,
): Promise<ClusterStatus> {
  const probed = await watchLocally(await requireNamedConfig(context), context, {
    defaultMs: 0,
    isDone: isEveryAttachmentKnown,
    onInterrupt: (partial) => onInterrupt(probedStatus(partial)),
  });
  return probedStatus(probed);
}
