import { ManualClock } from "../../../fake/manual-clock.ts";
import { feedsOf } from "../../../fake/feeds-fixture.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Drain, DrainRequest } from "../../../../src/core/cluster/drain.ts";
import { feedProtocol, outcomeShape } from "../../../../src/core/config/outcome-shape.ts";
import { Feeds } from "../../../../src/features/follow/owner/feeds.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { storeFixture } from "../../../fake/store-fixture.ts";

const order = { cluster: "demo", node: "pg2", by: "ann", drain: { forMs: 60_000, reason: "disk", extent: "all" } };

const callerWith = (mayDrain: boolean) => ({
  name: "token",
  principal: "edge.token:1",
  mayFollow: () => true,
  mayDrain: () => mayDrain,
});

/** Feeds of one cluster, with one stream. @param wanted the clusters that its follower asks for; all, if left out */
function feedsFixture(
  mayDrain: boolean,
  wanted?: readonly string[],
): {
  readonly feeds: Feeds;
  readonly begun: DrainRequest[];
  readonly ended: (string | null)[];
} {
  const { store } = storeFixture();
  const config = configOf({ clusters: [clusterOf({ name: "demo" })] });
  const [begun, ended]: [DrainRequest[], (string | null)[]] = [[], []];
  const clock = new ManualClock();
  const parts = { config: () => config, store, clock };
  const feeds = feedsOf(parts, {
    newId: () => "stream",
    drains: {
      begin: (cluster, node, request) => {
        begun.push(request);
        const { reason, by, extent } = request;
        const drain: Drain = { reason, by, extent, untilMs: clock.nowMs + 60_000, since: "a", until: "b" };
        store.record({ kind: "drain", cluster, node, drain }, clock.nowMs);
        return Promise.resolve({ kind: "durable" });
      },
      end: (cluster, node, by) => {
        ended.push(by);
        store.record({ kind: "drain", cluster, node, drain: null }, clock.nowMs);
        return Promise.resolve({ kind: "volatile" });
      },
    },
  });
  const request = {
    protocol: feedProtocol,
    version: "1",
    name: "edge3",
    token: 1,
    clusters: config.clusters
      .filter(({ name }) => wanted?.includes(name) !== false)
      .map((cluster) => ({ name: cluster.name, shape: outcomeShape(cluster, config.probe) })),
    isOwner: wanted?.length === 0,
    resume: null,
  };
  const caller = callerWith(mayDrain);
  assert.equal(feeds.open(request, caller, () => ({ write: () => {}, waiting: 0, end: () => {} })).kind, "open");
  return { feeds, begun, ended };
}

test("a drain that an operator of a follower asks for is set at the owner, and says by whom", async () => {
  const { feeds, begun, ended } = feedsFixture(true);
  assert.deepEqual(await feeds.drain({ ...order, stream: "stream" }, callerWith(true)), {
    isDurable: true,
    drain: { reason: "disk", by: "ann at edge3 (token)", extent: "all", since: "a", until: "b", leftMs: 60_000 },
  });
  assert.deepEqual(begun, [{ reason: "disk", extent: "all", forMs: 60_000, by: "ann at edge3 (token)" }]);
  assert.deepEqual(await feeds.drain({ ...order, drain: null, stream: "stream" }, callerWith(true)), {
    isDurable: false,
    drain: null,
  });
  assert.deepEqual(ended, ["ann at edge3 (token)"]);
});

for (const [what, body, mayDrain, problem] of [
  ["without a stream", { ...order, stream: "other" }, true, /the stream must be open/],
  [
    "of an unknown cluster",
    { ...order, cluster: "x", stream: "stream" },
    true,
    /Cannot feed cluster x: it must be conf/,
  ],
  ["of an unknown node", { ...order, node: "pg9", stream: "stream" }, true, /pg9 must be a node of demo/],
  ["that the credential does not permit", { ...order, stream: "stream" }, false, /drains: true/],
  [
    "for longer than a drain may last",
    { ...order, stream: "stream", drain: { ...order.drain, forMs: 1e12 } },
    true,
    /order of a drain/,
  ],
] as const)
  test(`an order ${what} is refused`, async () => {
    const { feeds, begun } = feedsFixture(mayDrain);
    const came = await feeds.drain(body, callerWith(mayDrain));
    assert.match("problem" in came ? came.problem : "", problem);
    assert.deepEqual(begun, []);
  });

test("another owner of the cluster orders a drain on a stream that brings it nothing", async () => {
  const { feeds, begun } = feedsFixture(true, []);
  assert.equal("problem" in (await feeds.drain({ ...order, stream: "stream" }, callerWith(true))), false);
  assert.equal(begun.length, 1);
});
