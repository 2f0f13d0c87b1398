import type { KnownClusters } from "../../../core/command/client/remembered-members.ts";
import { diagnoseUpstreams } from "../../../core/command/doctor/diagnose-upstreams.ts";
import type { DoctorContext } from "../../../core/command/doctor/doctor-context.ts";

/** Looks at the streams of the instances that are followed, if there are some. */
export async function checkUpstreams(context: DoctorContext, known: KnownClusters): Promise<void> {
  if (context.config.clusters.some(({ follow }) => follow.length > 0)) await diagnoseUpstreams(context, known);
}
