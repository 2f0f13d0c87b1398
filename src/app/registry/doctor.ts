import type { DoctorCheck, ServerCheck } from "../../command/doctor/doctor-context.ts";
import { fleetChecks } from "../../features/fleet/doctor.ts";
import { followChecks } from "../../features/follow/doctor.ts";
import { haproxyChecks } from "../../features/haproxy/doctor.ts";
import { switchoverChecks } from "../../features/switchover/doctor.ts";

/** What features check of a set-up, in the order of their rows. */
export const featureChecks: readonly DoctorCheck[] = [...haproxyChecks, ...switchoverChecks];

/** What they ask the running rolecall, in this order. */
export const featureServerChecks: readonly ServerCheck[] = [...followChecks, ...fleetChecks];
