import { countText } from "../../core/health/wording.ts";
import type { StatusCluster, StatusNode } from "../../core/command/client/cluster-status.ts";
import type { ResultBuilder } from "../../core/command/result/builder.ts";
import { isRuleId } from "../../core/command/result/rules.ts";
import { isSevere } from "../../core/health/conditions/cluster-condition.ts";
import { conditionOfWord } from "../../core/health/conditions/conditions.ts";
import { isIntended } from "../../core/health/conditions/node-standing.ts";
import { nodesOut, nodeWarned } from "../../core/health/conditions/nodes.ts";
import { blind } from "../../core/health/conditions/reach.ts";
import { headlineOf } from "../../core/health/documents/situation.ts";
import { explainClusterCommand, explainNodeCommand } from "./next-commands.ts";

/** That of a condition which a feature may lack: its rule is that of the list of rules. */
const poolerRule = "RC056";

/**
 * Reports poolers that do not answer, clusters without recent evidence or a primary, nodes that are unfit for the routes of their role, and nodes
 * with a warning.
 * @param source the options that say where the clusters are, for the commands to run next
 */
export function diagnoseClusters(
  result: Pick<ResultBuilder, "diagnose">,
  clusters: readonly StatusCluster[],
  source: readonly string[],
): void {
  for (const cluster of clusters) {
    const name = cluster.cluster;
    const { condition } = cluster.situation;
    const { rule, harm, id } = conditionOfWord(condition) ?? {};
    if (isSevere(condition) && rule !== undefined && isRuleId(rule))
      result.diagnose(rule, {
        message: `${name}: ${id === blind.id ? "no node has answered within max_age" : headlineOf(cluster.situation)}`,
        // Without a node that answers there is nothing to explain.
        ...(harm === "unseen" ? {} : { action: `Run ${explainClusterCommand(cluster, source)}` }),
      });
    for (const text of cluster.poolers ?? []) result.diagnose(poolerRule, { message: `${name}: ${text}` });
    if (id === blind.id) continue;
    for (const node of cluster.nodes) diagnoseNode(result, { cluster, node, source });
  }
}

interface DiagnosedNode {
  readonly cluster: StatusCluster;
  readonly node: StatusNode;
  readonly source: readonly string[];
}

function diagnoseNode(result: Pick<ResultBuilder, "diagnose">, { cluster, node, source }: DiagnosedNode): void {
  const { reason, detail, warning } = node;
  const name = `${cluster.cluster}/${node.node}`;
  const action = `Run ${explainNodeCommand(cluster, node, source)}`;
  if (reason === null) {
    const [first] = node.refused;
    if (first !== undefined) {
      const figure = first.detail === null ? "" : ` ${first.detail}`;
      const message = `${name}: refused in ${node.refused.length} of ${countText(node.asked, "check")} of balancers: ${first.reason}${figure} (${first.pool ?? first.check})`;
      result.diagnose(nodeWarned.rule, { message, action });
    }
    if (warning !== null) result.diagnose(nodeWarned.rule, { message: `${name}: ${warning}`, action });
    return;
  }
  const cause = detail === null ? reason : `${reason} (${detail})`;
  result.diagnose(nodesOut.rule, {
    message: `${name}: ${cause}`,
    action,
    ...(node.condition === "drained" || isIntended(reason) ? { severity: "info" as const } : {}),
  });
}
