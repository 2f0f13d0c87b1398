import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import { requireBalanced } from "../../../core/command/render/balanced.ts";
import type { RenderContext } from "../../../core/command/render/render-target.ts";
import type { Targets } from "../../../core/command/render/targets.ts";
import { renderHaproxy } from "./haproxy-file.ts";

/** `rolecall render haproxy` */
export async function renderHaproxyTarget(context: RenderContext): Promise<string> {
  const { command, findInput, loadAgentChecks } = context;
  const { targets, options } = await findInput();
  requireBalanced(context, targets);
  requireDeclaredPools(command, targets);
  warnOfZone(command, targets, options.zone);
  return renderHaproxy(targets, options, (await loadAgentChecks())(targets.edges, options));
}

/** @throws CommandError (RC001, RC112) if the pools of the configuration cannot be rendered as they are */
function requireDeclaredPools({ args }: CommandContext, { pools }: Targets): void {
  if (pools === null) return;
  if (pools.length === 0)
    throw new CommandError(
      "RC112",
      "Cannot render: no pool of the configuration is of these clusters",
      "Add pools for them, or select other clusters with --cluster.",
    );
  for (const option of ["read-port", "lag", "lag-time"])
    if (args.text(option) !== null)
      throw new CommandError(
        "RC001",
        `--${option} must be left out: the pools of the configuration have checks of their own, and listen on ` +
          "--write-port and the ports after it",
      );
}

/** Where no node is in the zone, all servers are alike. */
function warnOfZone({ result }: CommandContext, { clusters }: Targets, zone: string | null): void {
  for (const { name, nodes } of clusters)
    if (zone !== null && nodes.length > 0 && nodes.every((node) => node.zone !== zone))
      result.diagnose("RC169", {
        message: `no node of cluster ${name} is in zone ${zone}: all its servers are backups`,
      });
}
