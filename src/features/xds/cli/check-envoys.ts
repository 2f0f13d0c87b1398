import { countText } from "../../../core/health/wording.ts";
import { isObject, listOf } from "../../../core/cluster/values/json.ts";
import { type KnownClusters, notAsked } from "../../../core/command/client/remembered-members.ts";
import { safe } from "../../../core/command/output/style.ts";
import type { DoctorContext } from "../../../core/command/doctor/doctor-context.ts";

/**
 * Reports what Envoys do not get from the running rolecall (RC139): names that no pool has, which Envoy itself neither
 * refuses nor counts, assignments that they refuse, and nodes that are left out.
 */
export async function checkEnvoys({ command, config }: DoctorContext, known: KnownClusters): Promise<void> {
  const [{ result }, { server }] = [command, known];
  if (config.listen.every(({ dialect }) => dialect !== "xds")) return;
  if (server === null) {
    result.cover("envoys", "not_checked", { detail: notAsked(known) });
    return;
  }
  const balancers = listOf((await server.getObject("/edges"))["balancers"]).filter(isObject);
  const envoys = balancers.filter(({ kind }) => kind === "envoy");
  for (const { balancer, socket, problems } of envoys)
    for (const { subject, problem } of listOf(problems).filter(isObject))
      result.diagnose("RC139", {
        message: `Envoy ${safe(String(balancer))} (${safe(String(socket))}): ${safe(String(subject))}: ${safe(String(problem))}`,
      });
  result.cover("envoys", "complete", { detail: `${countText(envoys.length, "stream")} of Envoys` });
}
