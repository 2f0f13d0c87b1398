import { countText } from "../../core/health/wording.ts";
import type { ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Check } from "../../core/health/check.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { diagnoseUnknown, notKnown, probedStatus } from "../../app/client/attachment.ts";
import { parseCheckArgument, requireRoute } from "../../core/command/client/check-argument.ts";
import { fetchNodeExplanation } from "../explain/explanations.ts";
import { explainProbedNode } from "../explain/probed-explanation.ts";
import { seeReasons } from "../../core/command/client/next-command.ts";
import { resolveName, type GivenName } from "../../core/command/client/node-name.ts";
import { attachmentTime, watchLocally } from "../../app/client/local-probe.ts";
import { fetchStatusFrom } from "../../core/command/client/cluster-status.ts";
import { fetchStatus, isLocal } from "../../app/client/fetch-status.ts";
import { requireNamedConfig } from "../../app/client/probed-status.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { tellingCheck } from "../status/next-commands.ts";
import { renderExplanation, type PrintedExplanation } from "../explain/explanation.ts";
import { remedyOf } from "../explain/remedies.ts";

/**
 * `rolecall explain [CHECK] [--node NODE]`: explains the verdict rule by rule; without a node, that of each node of the
 * cluster; without a check, that of the route of the node's role. Unfit is a finding (RC030, exit code 1).
 */
export async function explainCheck(context: CommandContext): Promise<void> {
  const { args } = context;
  const [text] = args.positionals;
  const node = args.text("node");
  if (text === undefined && node === null) return (await import("./explain-situation.ts")).explainSituation(context);
  const check = text === undefined ? await checkOf(context, node) : text.startsWith("/") ? text : `/${text}`;
  if (node === null) return (await import("./explain-cluster.ts")).explainCluster(context, check);
  const given = { cluster: args.text("cluster"), node };
  const explanation = await (isLocal(context)
    ? explainLocally(context, check, given)
    : fetchExplanation(context, check, given));
  report(context, check, explanation);
}

/** The check to explain of a node where none is given. */
async function checkOf(context: CommandContext, given: string | null): Promise<string> {
  const status = await fetchStatus(context);
  const { cluster: name, node } = resolveName(status, { cluster: context.args.text("cluster"), node: given });
  const cluster = status.clusters.find((one) => one.cluster === name);
  const row = cluster?.nodes.find((one) => one.node === node);
  return cluster === undefined || row === undefined ? "/replica" : tellingCheck(cluster, row);
}

function report({ result, print, style }: CommandContext, check: string, explanation: PrintedExplanation): void {
  result.cover("rules", "complete", { detail: countText(explanation.rules.length, "rule") });
  result.data = explanation;
  print(renderExplanation(explanation, style));
  if (explanation.fit === null)
    diagnoseUnknown(
      result,
      `${explanation.cluster}/${explanation.node} for ${check}`,
      explanation.detail ?? "seen once",
    );
  if (explanation.fit === false) {
    const remedy = remedyOf(explanation.reason ?? "");
    const see = seeReasons([explanation.reason]);
    result.diagnose("RC030", {
      message: `${explanation.cluster}/${explanation.node} is unfit for ${check}: ${explanation.reason}`,
      action: `The rule marked NO decides.${remedy === null ? "" : ` To be fit, ${remedy}.`}${see === "" ? "" : `\n  ${see}`}`,
    });
  }
}

async function fetchExplanation(context: CommandContext, check: string, given: GivenName): Promise<PrintedExplanation> {
  requireRoute(check);
  const server = new RolecallClient(context, "admin");
  const { cluster, node } = resolveName(await fetchStatusFrom(server), given);
  return fetchNodeExplanation(server, { cluster, check }, node ?? "");
}

async function explainLocally(context: CommandContext, check: string, given: GivenName): Promise<PrintedExplanation> {
  const config = await requireNamedConfig(context);
  const parsed = parseCheckArgument(check, config.ignoreParams);
  const explainNow = (probed: ProbedClusters): PrintedExplanation => explainProbed(probed, { check, parsed, given });
  const probed = await watchLocally(config, context, {
    defaultMs: attachmentTime(config),
    isDone: (sofar) => explainNow(sofar).attachment !== notKnown,
    onInterrupt: (sofar) => report(context, check, explainNow(sofar)),
  });
  return explainNow(probed);
}

function explainProbed(
  probed: ProbedClusters,
  { check, parsed, given }: { readonly check: string; readonly parsed: Check; readonly given: GivenName },
): PrintedExplanation {
  const target = resolveName(probedStatus(probed), given);
  const observation = probed.cluster(target.cluster)?.nodes.find(({ node }) => node.name === target.node);
  if (observation === undefined) throw new CommandError("RC001", `There is no node ${target.node}`);
  return {
    cluster: target.cluster,
    check,
    ...explainProbedNode(probed, target.cluster, { observation, check: parsed }),
  };
}
