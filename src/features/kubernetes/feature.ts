import type { Feature } from "../../core/feature/feature.ts";
import { dcsSources, nodeFinders } from "../../core/feature/offers.ts";
import { servicesFound } from "./conditions.ts";
import { serviceDocument } from "./core/seen-service.ts";
import { podProtocol } from "./config/pod-seed.ts";
import { kubernetesMetrics } from "./kubernetes-metrics.ts";
import type { RunningKubernetes } from "./open-kubernetes.ts";

/** Publishes pools as EndpointSlices of Services in Kubernetes (docs/kubernetes-services.md). */
export const kubernetes: Feature<RunningKubernetes> = {
  name: "kubernetes",
  isUsed: ({ kubernetes: published, clusters }) =>
    (published !== null && published.services.length > 0) ||
    clusters.some(
      ({ dcs, discover }) =>
        dcs?.kubernetes !== undefined || discover.some((address) => address.startsWith(podProtocol)),
    ),
  gives: [dcsSources, nodeFinders],
  load: async () => (await import("./open-kubernetes.ts")).openKubernetes,
  metrics: kubernetesMetrics,
  conditions: (running, cluster) => servicesFound(running.services(cluster), running.nowMs, running.toOwnMs),
  overview: (running, cluster) => {
    const services = running.services(cluster);
    return services.length === 0 ? {} : { services: services.map((seen) => serviceDocument(seen, running.nowMs)) };
  },
};
