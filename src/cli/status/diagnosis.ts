import type { StatusCluster, StatusNode } from "../../command/client/cluster-status.ts";
import type { ResultBuilder } from "../../command/result/builder.ts";
import { headlineOf } from "../../health/documents/situation.ts";
import { explainClusterCommand, explainNodeCommand } from "./next-commands.ts";

/**
 * Reports clusters without recent evidence or a primary, nodes that are unfit for the routes of their role, and nodes
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
    if (condition === "without nodes")
      result.diagnose("RC112", { message: `${name}: ${headlineOf(cluster.situation)}` });
    else if (condition === "blind")
      result.diagnose("RC052", { message: `${name}: no node has answered within max_age` });
    else if (condition === "without a primary" || condition === "two primaries") {
      result.diagnose(condition === "two primaries" ? "RC054" : "RC050", {
        message: `${name}: ${headlineOf(cluster.situation)}`,
        action: `Run ${explainClusterCommand(cluster, source)}`,
      });
    }
    if (condition === "blind") continue;
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
      const message = `${name}: refused in ${node.refused.length} of ${node.asked} checks of balancers: ${first.reason}${figure} (${first.pool ?? first.check})`;
      result.diagnose("RC053", { message, action });
    }
    if (warning !== null) result.diagnose("RC053", { message: `${name}: ${warning}`, action });
    return;
  }
  const cause = detail === null ? reason : `${reason} (${detail})`;
  const isIntended = node.condition === "drained";
  result.diagnose("RC051", {
    message: `${name}: ${cause}`,
    action,
    ...(isIntended ? { severity: "info" as const } : {}),
  });
}
