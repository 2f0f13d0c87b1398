import type { Feature } from "../../core/feature/feature.ts";
import { evidenceBringers } from "../../core/feature/offers.ts";
import { answerFeed } from "./feed-api.ts";
import { followMetrics } from "./follow-metrics.ts";
import { isFollowed } from "./is-followed.ts";
import type { RunningFollow } from "./open-follow.ts";

/**
 * Takes outcomes of other instances in place of probes, and feeds other instances with those of this one
 * (docs/fleet.md). An instance that only feeds others opens it with their first call.
 */
export const follow: Feature<RunningFollow> = {
  name: "follow",
  isUsed: (config) => config.clusters.some((cluster) => isFollowed(config, cluster)),
  load: async () => (await import("./open-follow.ts")).openFollow,
  gives: [evidenceBringers],
  precedesProbes: true,
  routes: { feed: answerFeed },
  opensOn: ["feed"],
  metrics: followMetrics,
  edges: (running, only) => {
    if (only !== null) return {};
    const upstreams = (running?.follows.upstreams ?? []).map(({ silentMs, receivedBytes, ...upstream }) => ({
      ...upstream,
      silent_ms: silentMs,
      received_bytes: receivedBytes,
    }));
    return { upstreams, followers: running?.feeds.followers ?? [] };
  },
};
