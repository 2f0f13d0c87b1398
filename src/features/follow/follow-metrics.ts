import type { FeatureMetric } from "../../core/feature/feature.ts";
import type { RunningFollow } from "./open-follow.ts";

/** From whom outcomes are taken, and who takes them. */
export const followMetrics: readonly FeatureMetric<FollowUsage>[] = [
  {
    type: "gauge",
    name: "rolecall_upstream_up",
    help: "Whether another rolecall that is followed feeds its clusters.",
    read: (running) =>
      (running?.follows.upstreams ?? []).map(({ url, state }) => [{ upstream: url }, Number(state === "live")]),
  },
  {
    type: "counter",
    name: "rolecall_upstream_received_bytes_total",
    help: "Bytes that another rolecall that is followed has sent, compressed, since the configuration was loaded.",
    read: (running) =>
      (running?.follows.upstreams ?? []).map(({ url, receivedBytes }) => [{ upstream: url }, receivedBytes]),
  },
  {
    type: "gauge",
    name: "rolecall_followed",
    help: "1 if the evidence of a cluster comes from another rolecall; 0 if that is configured, and it is probed here.",
    read: (running) =>
      (running?.follows.phases ?? []).map(([cluster, phase]) => [{ cluster }, Number(phase === "following")]),
  },
  {
    type: "gauge",
    name: "rolecall_followers",
    help: "Other rolecalls that take outcomes from this one.",
    read: (running) =>
      running === null || running.feeds.followers.length === 0 ? null : running.feeds.followers.length,
  },
  {
    type: "counter",
    name: "rolecall_feed_unknown_clusters_total",
    help: "Times that other rolecalls asked for outcomes of a cluster that is not configured here.",
    read: (running) => {
      if (running === null) return null;
      const { followers, unknownClusters } = running.feeds;
      return followers.length + unknownClusters === 0 ? null : unknownClusters;
    },
  },
];

/** What the metrics are read from. */
interface FollowUsage {
  readonly follows: Pick<RunningFollow["follows"], "upstreams" | "phases">;
  readonly feeds: Pick<RunningFollow["feeds"], "followers" | "unknownClusters">;
}
