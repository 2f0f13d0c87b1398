import type { CountedMetric, FeatureCounted } from "../../core/metrics/counted-metrics.ts";
import { agentCounted } from "../../features/agent/counted.ts";
import { canaryCounted } from "../../features/canary/counted.ts";
import { dcsCounted } from "../../features/dcs/counted.ts";
import { gatewayCounted } from "../../features/gateway/counted.ts";
import { haproxyCounted } from "../../features/haproxy/counted.ts";
import { kubernetesCounted } from "../../features/kubernetes/counted.ts";
import { switchoverCounted } from "../../features/switchover/counted.ts";
import { xdsCounted } from "../../features/xds/counted.ts";

/** What features count: exactly what they declare. */
export const featureCounted: Readonly<Record<string, CountedMetric>> = {
  ...dcsCounted,
  ...gatewayCounted,
  ...switchoverCounted,
  ...agentCounted,
  ...haproxyCounted,
  ...xdsCounted,
  ...kubernetesCounted,
  ...canaryCounted,
} satisfies FeatureCounted;
