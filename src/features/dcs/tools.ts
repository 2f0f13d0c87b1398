import type { UnlistedCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of the DCS of clusters. */
export const dcsChecks: readonly UnlistedCheck[] = [
  { load: async () => (await import("./diagnose-dcs.ts")).diagnoseDcs },
];
