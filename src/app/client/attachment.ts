import type { ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import { plainCheck, type Check } from "../../core/health/check.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { attachmentKnowledge, type AttachmentKnowledge } from "../../core/health/documents/attachment-knowledge.ts";
import { judgeMember } from "../../core/health/rules/pool.ts";
import { routeOf } from "../../core/health/route.ts";
import type { ResultBuilder } from "../../core/command/result/builder.ts";
import { formatDuration } from "../../core/command/output/figures.ts";
import type { ClusterStatus, StatusCluster, StatusNode } from "../../core/command/client/status-types.ts";

/** Replaces the verdict `fit` of a node that this process has not watched for long enough to know its attachment. */
export const notKnown = "not known";

/** Whether a node that is fit for a check is known to be attached, as far as this process has probed. */
export function probedAttachment(
  probed: ProbedClusters,
  cluster: string,
  { observation, check }: { readonly observation: Observation; readonly check: Check },
): AttachmentKnowledge {
  const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
  if (state === undefined || policy === undefined) return notKnown;
  const view = viewAt(state, policy, probed.now());
  return attachmentKnowledge(view, { observation, check }, probed.firstWalPosition(cluster, observation.node.name));
}

/** The nodes of a cluster that are fit for a check, and known to be attached if the check depends on attachment. */
export function certainlyFit(probed: ProbedClusters, cluster: string, check: Check): readonly Observation[] {
  const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
  if (state === undefined || policy === undefined) return [];
  const view = viewAt(state, policy, probed.now());
  return state.nodes.filter(
    (observation) =>
      judgeMember(view, observation, check).fit &&
      probedAttachment(probed, cluster, { observation, check }) !== notKnown,
  );
}

/** How long the nodes were watched, for people: `seen once`, `watched for 5 s`. */
export function watchedFor(probed: ProbedClusters): string {
  const ms = probed.watchedMs();
  return ms < 1 ? "seen once" : `watched for ${formatDuration(ms)}`;
}

/**
 * The status of all clusters as this process has probed them. A verdict `fit` becomes `not known`
 * while it is not known whether the node is attached.
 */
export function probedStatus(probed: ProbedClusters): ClusterStatus {
  const clusters = probed.overview().clusters.map((overview): StatusCluster => {
    const observations = probed.cluster(overview.cluster)?.nodes ?? [];
    const nodes = overview.nodes.map((row): StatusNode => {
      const observation = observations.find(({ node }) => node.name === row.node);
      return observation === undefined
        ? { ...row, attachment: null }
        : withKnowledge(probed, overview.cluster, { row, observation });
    });
    const isUnknown = nodes.some(({ attachment }) => attachment === notKnown);
    const { situation } = overview;
    const condition = situation.condition === "ok" && isUnknown ? "warning" : situation.condition;
    return { ...overview, nodes, situation: { ...situation, condition } };
  });
  return { by: "probed here", config: null, clusters };
}

/** Whether every node with a fit verdict that depends on attachment is known to be attached. */
export function isEveryAttachmentKnown(probed: ProbedClusters): boolean {
  return probedStatus(probed).clusters.every(({ nodes }) => nodes.every(({ attachment }) => attachment !== notKnown));
}

function withKnowledge(
  probed: ProbedClusters,
  cluster: string,
  { row, observation }: { readonly row: Omit<StatusNode, "attachment">; readonly observation: Observation },
): StatusNode {
  const knowledgeByRoute = new Map(
    Object.entries(row.verdicts).map(([name, verdict]) => {
      const route = verdict === "fit" ? routeOf(name) : undefined;
      return [
        name,
        route === undefined ? null : probedAttachment(probed, cluster, { observation, check: plainCheck(route) }),
      ];
    }),
  );
  const isUnknown = [...knowledgeByRoute.values()].includes(notKnown);
  return {
    ...row,
    verdicts: Object.fromEntries(
      Object.entries(row.verdicts).map(([route, verdict]) => [
        route,
        knowledgeByRoute.get(route) === notKnown ? notKnown : verdict,
      ]),
    ),
    warning: isUnknown ? `attachment not known: ${watchedFor(probed)}` : row.warning,
    condition: isUnknown && row.condition === "ok" ? "warning" : row.condition,
    attachment: isUnknown ? notKnown : [...knowledgeByRoute.values()].includes("known") ? "known" : null,
  };
}

/**
 * Reports that a verdict is not known (RC032): the command could not complete.
 * @param seen the text that {@link watchedFor} returns
 */
export function diagnoseUnknown(result: ResultBuilder, subject: string, seen: string): void {
  result.diagnose("RC032", {
    message: `${subject}: fit so far, but whether it is attached is not known: ${seen}`,
    incomplete: true,
  });
}
