import type { DoctorCheck } from "../../command/doctor/doctor-context.ts";
import { haproxyChecks } from "../../features/haproxy/doctor.ts";

/** What features check of a set-up, in the order of their rows. */
export const featureChecks: readonly DoctorCheck[] = [...haproxyChecks];
