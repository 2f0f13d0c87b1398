import type { Config } from "../../config/model/config.ts";
import { CommandError } from "../../command/framework/command-error.ts";
import type { CommandContext } from "../../command/framework/command-context.ts";
import { isEveryAttachmentKnown, probedStatus } from "./attachment.ts";
import { configFrom, namedByScope, sourcesOf } from "./configuration.ts";
import { watchLocally } from "./local-probe.ts";
import type { ClusterStatus } from "../../command/client/status-types.ts";

/**
 * Loads the configuration that the command line names.
 * @throws CommandError if it has problems, which are findings then
 */
export function requireConfig({ args, io, result }: CommandContext): Config {
  const config = configFrom(sourcesOf(args, io.env), result);
  if (config === null) throw new CommandError("RC006", "Cannot use the configuration: it has problems");
  return config;
}

/**
 * As {@link requireConfig}, for a command that probes the nodes: the cluster of `--discover` has the name that its
 * nodes report.
 * @throws CommandError if the configuration has problems, which are findings then
 */
export async function requireNamedConfig(context: CommandContext): Promise<Config> {
  const sources = sourcesOf(context.args, context.io.env);
  return (await namedByScope({ config: requireConfig(context), sources })).config;
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
