import { explain as explainVerdict } from "../../health/explain/explain.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { CommandError } from "../framework/command-error.ts";
import { parseCheckOption } from "../client/check-option.ts";
import { explainedNode, fetchNodeExplanation } from "../client/explanations.ts";
import { seeReasons } from "../client/next-command.ts";
import { resolveName, type GivenName } from "../client/node-name.ts";
import { probeLocally } from "../client/local-probe.ts";
import { isLocal, requireConfig, fetchStatusFrom } from "../client/cluster-status.ts";
import { RolecallClient } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { renderExplanation, type PrintedExplanation } from "../output/explanation.ts";
import { remedyOf } from "../output/remedies.ts";

/**
 * `rolecall explain CHECK [--node NODE]`: explains the verdict rule by rule; without a node, that of each node of the
 * cluster. Unfit is a finding (RC030, exit code 1).
 */
export async function explainCheck(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  const [text = ""] = args.positionals;
  const check = text.startsWith("/") ? text : `/${text}`;
  const node = args.text("node");
  if (node === null) return (await import("./explain-cluster.ts")).explainCluster(context, check);
  const given = { cluster: args.text("cluster"), node };
  const explanation = await (isLocal(context)
    ? explainLocally(context, check, given)
    : fetchExplanation(context, check, given));
  result.cover("rules", "complete", { detail: `${explanation.rules.length} rules` });
  result.data = explanation;
  print(renderExplanation(explanation, style));
  if (!explanation.fit) {
    const remedy = remedyOf(explanation.reason ?? "");
    const see = seeReasons([explanation.reason]);
    result.diagnose("RC030", {
      message: `${explanation.cluster}/${explanation.node} is unfit for ${check}: ${explanation.reason}`,
      action: `The rule marked NO decides.${remedy === null ? "" : ` To be fit, ${remedy}.`}${see === "" ? "" : `\n  ${see}`}`,
    });
  }
}

async function fetchExplanation(context: CommandContext, check: string, given: GivenName): Promise<PrintedExplanation> {
  const server = new RolecallClient(context, "admin");
  const { cluster, node } = resolveName(await fetchStatusFrom(server), given);
  return fetchNodeExplanation(server, { cluster, check }, node ?? "");
}

async function explainLocally(context: CommandContext, check: string, given: GivenName): Promise<PrintedExplanation> {
  const config = requireConfig(context);
  const parsed = parseCheckOption(check, config.ignoreParams);
  const probed = await probeLocally(config, context);
  const target = resolveName({ by: "probed here", clusters: probed.overview().clusters }, given);
  const state = probed.cluster(target.cluster);
  const policy = probed.policy(target.cluster);
  const observation = state?.nodes.find(({ node }) => node.name === target.node);
  if (state === undefined || policy === undefined || observation === undefined)
    throw new CommandError("RC001", `There is no node ${target.node}`);
  const explanation = explainVerdict(viewAt(state, policy, probed.now()), observation, parsed);
  return { cluster: target.cluster, check, ...explainedNode(observation.node.name, explanation) };
}
