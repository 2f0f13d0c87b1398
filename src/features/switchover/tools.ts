import type { DoctorCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of poolers, whose clients a seamless switchover holds. */
export const switchoverChecks: readonly DoctorCheck[] = [
  { id: "poolers", load: async () => (await import("./diagnose-poolers.ts")).diagnosePoolers },
];
