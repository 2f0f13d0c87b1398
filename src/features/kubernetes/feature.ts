import type { Feature } from "../../core/feature/feature.ts";
import type { RunningKubernetes } from "./open-kubernetes.ts";

/** Publishes pools as EndpointSlices of Services in Kubernetes (docs/kubernetes.md). */
export const kubernetes: Feature<RunningKubernetes> = {
  name: "kubernetes",
  isUsed: (config) => config.kubernetes !== null,
  load: async () => (await import("./open-kubernetes.ts")).openKubernetes,
};
