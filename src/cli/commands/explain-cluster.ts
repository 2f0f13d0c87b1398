import { countText } from "../../core/health/wording.ts";
import type { ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Check } from "../../core/health/check.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { foreignScopeText } from "../../core/health/evidence/node/foreign-scope.ts";
import { judgePool } from "../../core/health/rules/pool.ts";
import { reasonLink } from "../../core/config/reason-link.ts";
import { hardReasons, isReason, softReasons } from "../../core/health/reason.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import {
  parseCheckArgument,
  requireCompanions,
  requireOfCluster,
  requireRoute,
} from "../../core/command/client/check-argument.ts";
import { attachmentTime, watchLocally } from "../../app/client/local-probe.ts";
import { diagnoseUnknown, probedStatus } from "../../app/client/attachment.ts";
import { explainProbedNode } from "../explain/probed-explanation.ts";
import { fetchClusterExplanation } from "../explain/explanations.ts";
import { nextCommand, seeReasons } from "../../core/command/client/next-command.ts";
import { resolveName } from "../../core/command/client/node-name.ts";
import { fetchStatusFrom } from "../../core/command/client/cluster-status.ts";
import { isLocal } from "../../app/client/fetch-status.ts";
import { requireNamedConfig } from "../../app/client/probed-status.ts";
import { RolecallClient } from "../../core/command/client/rolecall-client.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { renderClusterExplanation, type ClusterExplanation } from "../explain/cluster-explanation.ts";
import { safe } from "../../core/command/output/style.ts";
import { remedyOf } from "../explain/remedies.ts";

/** `rolecall explain CHECK`: explains the verdict on a whole cluster, node by node. Unfit is a finding (RC030). */
export async function explainCluster(context: CommandContext, check: string): Promise<void> {
  report(context, await (isLocal(context) ? explainLocally(context, check) : fetchExplanation(context, check)));
}

function report(context: CommandContext, explanation: ClusterExplanation): void {
  const { result, print, style } = context;
  const { cluster, check, nodes, fit, reason } = explanation;
  const refused = worstOf(nodes);
  const reasons = nodes.map((node) => node.reason);
  const detail = refused === null ? null : nodeCommand(context, check, `${cluster}/${refused.node}`);
  result.cover("rules", "complete", { detail: `${countText(nodes.length, "node")} of ${cluster}` });
  result.data = {
    ...explanation,
    nodes: nodes.map((node) => ({ ...node, ...helpFor(node.reason) })),
    next: detail,
  };
  print(renderClusterExplanation(explanation, style));
  const see = seeReasons(reasons);
  const more = [...(detail === null ? [] : [`Every rule of a node: ${detail}`]), ...(see === "" ? [] : [see])];
  const unknown = nodes.find((node) => node.fit === null);
  if (unknown !== undefined && fit !== false)
    diagnoseUnknown(result, `${cluster}/${unknown.node} for ${check}`, unknown.detail ?? "seen once");
  if (fit !== false) return print(more.map((line) => style.dim(`${safe(line)}\n`)).join(""));
  result.diagnose("RC030", {
    message: `${cluster} is unfit for ${check}: ${reason}`,
    action: more.length === 0 ? "Check the seeds of the cluster." : more.join("\n  "),
  });
}

/** Every reason, the worst first. A node of another role is as it should be: it is last. */
const reasonOrder: readonly string[] = [...hardReasons, ...softReasons.filter(isFault), "wrong_role"];

function isFault(reason: string): boolean {
  return reason !== "wrong_role";
}

/** The node whose rules are the most worth reading, or `null` if all are fit. */
function worstOf(nodes: ClusterExplanation["nodes"]): ClusterExplanation["nodes"][number] | null {
  const unfit = nodes.filter((node) => node.fit !== true);
  return unfit.toSorted((one, other) => rankOf(one.reason) - rankOf(other.reason))[0] ?? null;
}

/** The position of a reason in the order. Before `wrong_role`: no reason yet, or one of a newer server. */
function rankOf(reason: string | null): number {
  const at = reasonOrder.indexOf(reason ?? "");
  return at < 0 ? reasonOrder.length - 1.5 : at;
}

function nodeCommand(context: CommandContext, check: string, node: string): string {
  return nextCommand(context, { name: "explain", positionals: [check], options: { node } });
}

function helpFor(reason: string | null): object {
  if (reason === null) return {};
  return { remedy: remedyOf(reason), link: isReason(reason) ? reasonLink(reason) : null };
}

async function fetchExplanation(context: CommandContext, check: string): Promise<ClusterExplanation> {
  requireRoute(check);
  const server = new RolecallClient(context, "admin");
  const { cluster } = resolveName(await fetchStatusFrom(server), { cluster: context.args.text("cluster"), node: null });
  return fetchClusterExplanation(server, { cluster, check });
}

async function explainLocally(context: CommandContext, check: string): Promise<ClusterExplanation> {
  const config = await requireNamedConfig(context);
  const parsed = parseCheckArgument(check, config.ignoreParams);
  requireOfCluster(parsed);
  const explainNow = (probed: ProbedClusters): ClusterExplanation => explainProbed(probed, { context, check, parsed });
  const probed = await watchLocally(config, context, {
    defaultMs: attachmentTime(config),
    isDone: (sofar) => explainNow(sofar).nodes.every(({ fit }) => fit !== null),
    onInterrupt: (sofar) => report(context, explainNow(sofar)),
  });
  return explainNow(probed);
}

function explainProbed(
  probed: ProbedClusters,
  { context, check, parsed }: { readonly context: CommandContext; readonly check: string; readonly parsed: Check },
): ClusterExplanation {
  const given = { cluster: context.args.text("cluster"), node: null };
  const { cluster } = resolveName(probedStatus(probed), given);
  const state = probed.cluster(cluster);
  const policy = probed.policy(cluster);
  if (state === undefined || policy === undefined) throw new CommandError("RC001", `There is no cluster ${cluster}`);
  requireCompanions(parsed, policy);
  const { verdict, chosen } = judgePool(viewAt(state, policy, probed.now()), parsed);
  const nodes = state.nodes.map((observation) => explainProbedNode(probed, cluster, { observation, check: parsed }));
  const known =
    nodes.find((node) => node.fit === true && node.node === chosen?.node.name) ?? nodes.find((node) => node.fit);
  const isUnknown = verdict.fit && known === undefined;
  const cause = foreignScopeText(state);
  return {
    cluster,
    check,
    fit: isUnknown ? null : verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    node: known?.node ?? null,
    nodes,
    ...(cause === null ? {} : { cause }),
  };
}
