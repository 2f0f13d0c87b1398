import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { readFeedMessage } from "../../../../src/features/follow/feed/feed-messages.ts";
import { feedProtocol, outcomeShape } from "../../../../src/core/config/outcome-shape.ts";
import { feedsOf } from "../../../fake/feeds-fixture.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { storeFixture } from "../../../fake/store-fixture.ts";

// What is asked of a stream counts by the rights of the call that asks it.

const all = { mayFollow: () => true, mayDrain: () => true };
const opener = { name: "edge1", principal: "edge1.token:1", ...all };
const config = configOf({ clusters: ["demo", "secret"].map((name) => clusterOf({ name })) });
const wanted = (...names: readonly string[]) =>
  config.clusters
    .filter(({ name }) => names.includes(name))
    .map((cluster) => ({ name: cluster.name, shape: outcomeShape(cluster, config.probe) }));

/** A stream of cluster `demo` that somebody with all rights has opened, and the refusals of each of its answers. */
function openStream() {
  const clock = new ManualClock();
  const drained: string[] = [];
  const feeds = feedsOf(
    { config: () => config, store: storeFixture().store, clock },
    {
      newId: () => "stream",
      drains: {
        begin: (cluster, node) => {
          drained.push(`${cluster}/${node}`);
          return Promise.resolve({ kind: "durable" });
        },
        end: () => Promise.resolve({ kind: "durable" }),
      },
    },
  );
  const refused: string[][] = [];
  const write = (bytes: Buffer): void => {
    const message = readFeedMessage(JSON.parse(gunzipSync(bytes).toString()));
    if (message !== null && "moved" in message) refused.push(message.moved.refused.map(({ reason }) => reason));
  };
  const request = { protocol: feedProtocol, version: "1", name: "edge1", token: 1, canMove: true, resume: null };
  const opened = feeds.open({ ...request, clusters: wanted("demo") }, opener, () => ({
    write,
    waiting: 0,
    end: () => {},
  }));
  assert.equal(opened.kind, "open");
  return { feeds, drained, refused };
}

const order = {
  stream: "stream",
  cluster: "demo",
  node: "pg2",
  by: null,
  drain: { forMs: 1_000, reason: "disk", extent: "all" },
};

test("another credential has no part in a stream", async () => {
  const { feeds, drained, refused } = openStream();
  for (const principal of ["edge2.token:1", null]) {
    const other = { name: "edge2", principal, ...all };
    assert.equal(feeds.echo({ stream: "stream", token: 1 }, other), false);
    assert.equal(feeds.select({ stream: "stream", add: wanted("secret"), drop: ["demo"] }, other), false);
    assert.deepEqual(await feeds.drain(order, other), { problem: "the stream must be open" });
  }
  assert.deepEqual([drained, refused], [[], []]);
  assert.equal(feeds.echo({ stream: "stream", token: 1 }, opener), true);
});

test("a call that may follow less gets less, whatever the stream may", () => {
  const { feeds, refused } = openStream();
  const less = { ...opener, mayFollow: (cluster: string) => cluster === "demo" };
  assert.equal(feeds.select({ stream: "stream", add: wanted("secret"), drop: [] }, less), true);
  assert.deepEqual(refused, [["not_allowed"]]);
  assert.equal(feeds.select({ stream: "stream", add: wanted("secret"), drop: [] }, opener), true);
  assert.deepEqual(refused.at(-1), []);
});

test("a call that may not drain does not, though the stream was opened by one that may", async () => {
  const { feeds, drained } = openStream();
  assert.deepEqual(await feeds.drain(order, { ...opener, mayDrain: () => false }), {
    problem: "the credential must be one of a follower with drains: true",
  });
  const restricted = { ...opener, mayFollow: () => false };
  assert.match(JSON.stringify(await feeds.drain(order, restricted)), /credential must be one that may follow it/);
  assert.deepEqual(drained, []);
  await feeds.drain(order, opener);
  assert.deepEqual(drained, ["demo/pg2"]);
});

test("clusters that are not configured here are counted, not kept", () => {
  const { feeds, refused } = openStream();
  assert.equal(feeds.unknownClusters, 0);
  const shape = {};
  const names = Array.from({ length: 300 }, (_, at) => ({ name: `other${at}`, shape }));
  assert.equal(feeds.select({ stream: "stream", add: [...names, ...wanted("secret")], drop: ["never"] }, opener), true);
  assert.equal(feeds.unknownClusters, 300);
  assert.equal(refused[0]?.filter((reason) => reason === "unknown_cluster").length, 200, "so many are named");
  assert.equal(feeds.select({ stream: "stream", add: wanted("secret"), drop: [] }, opener), true);
  assert.equal(feeds.unknownClusters, 300);
  assert.equal(feeds.select({ stream: "foreign", add: names, drop: [] }, opener), false);
  assert.equal(feeds.unknownClusters, 300, "no stream: nothing was asked");
  assert.deepEqual(
    feeds.followers.map(({ clusters }) => clusters),
    [2],
  );
});
