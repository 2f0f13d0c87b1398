import type { UnlistedCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of companions. */
export const companionDoctorChecks: readonly UnlistedCheck[] = [
  { load: async () => (await import("./diagnose-companions.ts")).diagnoseCompanions },
];
