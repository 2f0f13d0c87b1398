import { scheduledSwitchover } from "../../../core/health/evidence/node/plans.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { isHeard } from "../../../core/health/evidence/node/freshness.ts";
import { errorLine, type PreflightLine, warningLine } from "./preflight-line.ts";

/** What stands against a switchover of the cluster as a whole; nothing if nothing does. */
export function clusterLines(view: ClusterView): readonly PreflightLine[] {
  const { cluster } = view;
  const { name, dcs, documents } = cluster;
  const lines: PreflightLine[] = [];
  const failsafe = cluster.nodes.find((node) => isHeard(view, node) && node.report?.isFailsafe === true);
  if (failsafe !== undefined) {
    const text = `must reach its DCS, got failsafe mode of ${failsafe.node.name}: nobody can become the leader`;
    lines.push(errorLine(name, text, "Wait until the DCS is back."));
  }
  if (dcs?.isUp === false) {
    const text = `its DCS cannot be watched (${dcs.failure?.detail ?? "not read yet"}): it may be down`;
    lines.push(warningLine(name, text, "Look at the DCS first: while it is down, nobody can become the leader."));
  }
  const scheduled = scheduledSwitchover(documents.cluster);
  if (scheduled !== null) {
    const text = `a switchover is scheduled at ${scheduled.at}: this one takes its place`;
    lines.push(
      warningLine(name, text, "Schedule it again afterwards, or cancel it first (rolecall switchover --cancel)."),
    );
  }
  return lines;
}

export function unknownClusterLine(cluster: string): PreflightLine {
  return errorLine("cluster", `must be one that is monitored, got ${cluster}`, "Name a cluster of the configuration.");
}
