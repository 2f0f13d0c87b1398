import assert from "node:assert/strict";
import { test } from "node:test";
import { followMetrics } from "../../../src/features/follow/follow-metrics.ts";
import type { UpstreamStatus } from "../../../src/features/follow/follower/follows.ts";

type Usage = Parameters<(typeof followMetrics)[number]["read"]>[0];

function read(usage: Usage): readonly unknown[] {
  return followMetrics.map((metric) => [metric.name, metric.read(usage)]);
}

const upstream: UpstreamStatus = {
  url: "http://core1:9108",
  state: "live",
  problem: null,
  version: "1",
  silentMs: 5,
  clusters: 1,
  receivedBytes: 321,
  refused: [],
};

test("say whom this instance follows, and who follows it", () => {
  const waiting = { ...upstream, url: "http://core2:9108", state: "waiting" as const, receivedBytes: 0 };
  const follows = {
    upstreams: [upstream, waiting],
    phases: [
      ["demo", "following"],
      ["other", "probing"],
      ["third", "awaiting"],
    ] as const,
  };
  const feeds = { followers: [{ follower: "edge", clusters: 2 }], unknownClusters: 3 };
  assert.deepEqual(read({ follows, feeds }), [
    [
      "rolecall_upstream_up",
      [
        [{ upstream: "http://core1:9108" }, 1],
        [{ upstream: "http://core2:9108" }, 0],
      ],
    ],
    [
      "rolecall_upstream_received_bytes_total",
      [
        [{ upstream: "http://core1:9108" }, 321],
        [{ upstream: "http://core2:9108" }, 0],
      ],
    ],
    [
      "rolecall_followed",
      [
        [{ cluster: "demo" }, 1],
        [{ cluster: "other" }, 0],
        [{ cluster: "third" }, 0],
      ],
    ],
    ["rolecall_followers", 1],
    ["rolecall_feed_unknown_clusters_total", 3],
  ]);
});

test("have no samples for who neither follows nor feeds", () => {
  const names = followMetrics.map(({ name }) => name);
  const nothing = [[], [], [], null, null];
  assert.deepEqual(
    read(null),
    names.map((name, at) => [name, nothing[at]]),
  );
  const idle = { follows: { upstreams: [], phases: [] }, feeds: { followers: [], unknownClusters: 0 } };
  assert.deepEqual(read(idle), read(null));
});
