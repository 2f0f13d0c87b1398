import { unnamedStandbys } from "../../core/health/documents/unnamed-standbys.ts";
import { listText } from "../../core/health/wording.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** Reports replicas that are known by exporters alone, and whose streams have other names (RC176). */
export function checkSenderLists({ command: { result }, probed: { snapshot } }: DoctorContext): void {
  const exported = snapshot.clusters.filter(({ nodes }) => nodes.some(({ node }) => node.api === null));
  if (exported.length === 0) return;
  for (const cluster of exported) {
    const found = unnamedStandbys(cluster);
    if (found === null) continue;
    const names = found.nodes.map((node) => `${cluster.name}/${node}`);
    result.diagnose("RC176", {
      message: `${listText(names)} ${names.length === 1 ? "is" : "are"} in no sender list; the names there: ${found.seen.join(", ")}`,
    });
  }
  result.cover("sender lists", "complete", { detail: exported.map(({ name }) => name).join(", ") });
}
