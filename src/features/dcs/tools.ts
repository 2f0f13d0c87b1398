import type { DoctorCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of the DCS of clusters. */
export const dcsChecks: readonly DoctorCheck[] = [
  { id: "dcs", isListed: false, load: async () => (await import("./diagnose-dcs.ts")).diagnoseDcs },
];
