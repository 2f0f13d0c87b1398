import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What the services for Envoys count. */
export const xdsCounted = {
  xdsStreams: {
    type: "gauge",
    name: "rolecall_xds_streams",
    help: "Open streams of Envoys, by listener with the dialect xds.",
    labels: ["listener"],
  },
  xdsResponses: {
    type: "counter",
    name: "rolecall_xds_responses_total",
    help: "Responses that were sent to Envoys, by listener.",
    labels: ["listener"],
  },
  xdsRefusals: {
    type: "counter",
    name: "rolecall_xds_refusals_total",
    help: "Responses that an Envoy refused (NACK), by listener. It keeps its last assignment.",
    labels: ["listener"],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type XdsCounted = typeof xdsCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends XdsCounted {}
}
