import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What the publisher of Services counts. */
export const kubernetesCounted = {
  kubernetesRequests: {
    type: "counter",
    name: "rolecall_kubernetes_requests_total",
    help: "Requests to the API server of Kubernetes, by kind and by the status of the answer.",
    labels: ["request", "status"],
  },
  serviceWrites: {
    type: "counter",
    name: "rolecall_service_writes_total",
    help: "Writes of EndpointSlices, by namespace and by what came of them.",
    labels: ["namespace", "outcome"],
  },
  serviceLateness: {
    type: "histogram",
    name: "rolecall_service_publish_duration_seconds",
    help: "From the judgement that changes where a Service leads to the answer that it is published.",
    labels: ["namespace"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type KubernetesCounted = typeof kubernetesCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends KubernetesCounted {}
}
