import { diagnoseLeaderKeys } from "../../core/command/doctor/diagnose-leader-key.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";
import { etcdSourceOf } from "./dcs-watches.ts";

/** Reads the leader key of every cluster whose keys are in etcd (RC125 to RC127). */
export function diagnoseDcs(context: DoctorContext): Promise<void> {
  return diagnoseLeaderKeys(context, etcdSourceOf, "dcs");
}
