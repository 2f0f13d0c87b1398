import type { DoctorCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of companions. */
export const companionDoctorChecks: readonly DoctorCheck[] = [
  {
    id: "companions",
    isListed: false,
    load: async () => (await import("./diagnose-companions.ts")).diagnoseCompanions,
  },
];
