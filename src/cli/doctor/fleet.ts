import { isObject, listOf } from "../../cluster/values/json.ts";
import { diagnoseFleet } from "../client/fleet-findings.ts";
import { type KnownClusters, notAsked } from "../client/remembered-members.ts";
import { counted } from "../../command/output/words.ts";
import type { DoctorContext } from "../../command/doctor/doctor-context.ts";

/** Reports what is wrong with the fleet, as the running rolecall sees it (RC134). */
export async function checkFleetMembers({ command, config }: DoctorContext, known: KnownClusters): Promise<void> {
  const { server } = known;
  const { result } = command;
  if (config.fleet === null) return;
  if (server === null) return result.cover("fleet", "not_checked", { detail: notAsked(known) });
  const { fleet } = await server.getObject("/fleet");
  if (!isObject(fleet))
    return result.cover("fleet", "not_checked", { detail: "the running rolecall is in no fleet: reload it" });
  diagnoseFleet(fleet, result);
  result.cover("fleet", "complete", { detail: counted(listOf(fleet["members"]).length, "member") });
}
