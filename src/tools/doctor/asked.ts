import { countText } from "../../core/health/wording.ts";
import type { KnownClusters } from "../../core/command/client/remembered-members.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";
import { formatDuration } from "../../core/command/output/figures.ts";

/**
 * Reports members that no balancer asks the running rolecall for (RC131), and names that are no members and that
 * balancers still ask for (RC132).
 */
export function checkAsked(
  { command: { result } }: Pick<DoctorContext, "command">,
  { running, by, clusters }: KnownClusters,
): void {
  if (by === null) return;
  // The rolecall that runs here may have other clusters too.
  const own = running.filter(({ cluster }) => clusters.some((known) => known.cluster === cluster));
  for (const { cluster, nodes, asked_non_members: nonMembers = [] } of own) {
    for (const { node, unasked } of nodes)
      if (unasked === true)
        result.diagnose("RC131", {
          message: `no balancer asks ${by} for ${cluster}/${node}, although they ask for other members`,
        });
    for (const { node, asked_ms_ago: agoMs } of nonMembers)
      result.diagnose("RC132", {
        message: `balancers ask for ${cluster}/${node}, which is no member (last ${formatDuration(agoMs)} ago)`,
      });
  }
  const asked = own.flatMap(({ nodes }) => nodes).filter(({ asked_ms_ago: agoMs }) => typeof agoMs === "number");
  result.cover("asked", "complete", { detail: `${countText(asked.length, "member")} asked for at ${by}` });
}
