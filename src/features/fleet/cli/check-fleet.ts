import { countText } from "../../../core/health/wording.ts";
import { isObject, listOf } from "../../../core/cluster/values/json.ts";
import { diagnoseFleet } from "./fleet-findings.ts";
import { type KnownClusters, notAsked } from "../../../core/command/client/remembered-members.ts";
import { diagnoseUpstreams } from "../../../core/command/doctor/diagnose-upstreams.ts";
import type { DoctorContext } from "../../../core/command/doctor/doctor-context.ts";

/** Reports what is wrong with the fleet, and with the streams of its members, as the running rolecall sees it (RC134). */
export async function checkFleetMembers(context: DoctorContext, known: KnownClusters): Promise<void> {
  const { server } = known;
  const { config, command } = context;
  const { result } = command;
  if (config.fleet === null) return;
  // Where a cluster has upstreams of its own, all streams have been looked at.
  if (config.clusters.every(({ follow }) => follow.length === 0)) await diagnoseUpstreams(context, known);
  if (server === null) return result.cover("fleet", "not_checked", { detail: notAsked(known) });
  const { fleet } = await server.getObject("/fleet");
  if (!isObject(fleet))
    return result.cover("fleet", "not_checked", { detail: "the running rolecall is in no fleet: reload it" });
  diagnoseFleet(fleet, result);
  result.cover("fleet", "complete", { detail: countText(listOf(fleet["members"]).length, "member") });
}
