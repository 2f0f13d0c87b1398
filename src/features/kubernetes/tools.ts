import type { UnlistedCheck } from "../../core/command/doctor/doctor-context.ts";

/** What `rolecall doctor` checks of the Services of Kubernetes. */
export const kubernetesChecks: readonly UnlistedCheck[] = [
  { load: async () => (await import("./diagnose-kubernetes.ts")).diagnoseKubernetes },
];
