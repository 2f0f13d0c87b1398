import type { DoctorCheck } from "../../command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of HAProxies that are pushed to. */
export const haproxyChecks: readonly DoctorCheck[] = [
  { id: "balancers", load: async () => (await import("./diagnose-balancers.ts")).diagnoseBalancers },
];
