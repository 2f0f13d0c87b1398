import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { feedProtocol, outcomeShape } from "../../../../src/core/config/outcome-shape.ts";
import { unread } from "../../../../src/features/follow/owner/feed-stream.ts";
import { feedsOf } from "../../../fake/feeds-fixture.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { storeFixture } from "../../../fake/store-fixture.ts";

// What waits for followers that do not read is bounded for each, for each credential and in all.

const config = configOf({ clusters: [clusterOf({ name: "demo" })] });
const megabyte = 1024 * 1024;

/** Feeds whose followers read nothing: what is written to each waits, besides what a test adds. */
function unreadFeeds() {
  const clock = new ManualClock();
  const listeners: ((outcome: ProbeOutcome) => void)[] = [];
  const feeds = feedsOf(
    { config: () => config, store: storeFixture().store, clock },
    {
      onOutcome: (listener) => {
        listeners.push(listener);
        return () => {};
      },
    },
  );
  const open = (principal: string | null) => {
    const outlet = { waiting: 0, isEnded: false, write: () => {}, end: () => void (outlet.isEnded = true) };
    const clusters = config.clusters.map((each) => ({ name: each.name, shape: outcomeShape(each, config.probe) }));
    const request = { protocol: feedProtocol, version: "1", name: "x", token: 1, resume: null, clusters };
    const caller = { name: "x", principal, mayFollow: () => true, mayDrain: () => false };
    assert.equal(feeds.open(request, caller, () => outlet).kind, "open");
    return outlet;
  };
  const change = async (): Promise<void> => {
    for (const listener of listeners)
      listener({ kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: clock.nowMs, isAlive: true });
    await clock.pass(10);
  };
  return { open, change };
}

test("a stream that leaves more unread than it may ends, and one at the bound goes on", async () => {
  const { open, change } = unreadFeeds();
  const [at, beyond] = [open("a"), open("b")];
  [at.waiting, beyond.waiting] = [unread.stream, unread.stream + 1];
  await change();
  assert.deepEqual([at.isEnded, beyond.isEnded], [false, true]);
});

test("of the streams of one credential those that leave most end, and no other", async () => {
  const { open, change } = unreadFeeds();
  const own = Array.from({ length: 5 }, () => open("hostile.token:1"));
  const other = open("edge.token:1");
  own.forEach((stream, at) => (stream.waiting = (4 + at) * megabyte));
  other.waiting = unread.stream;
  await change();
  // 4 + 5 + 6 + 7 MB are within 24 MB.
  assert.deepEqual(
    own.map(({ isEnded }) => isEnded),
    [false, false, false, false, true],
  );
  assert.equal(other.isEnded, false);
});

test("of all streams those that leave most end", async () => {
  const { open, change } = unreadFeeds();
  const all = Array.from({ length: 10 }, (_, at) => open(`edge${at}.token:1`));
  all.forEach((stream, at) => (stream.waiting = (at < 9 ? 5 : 6) * megabyte));
  await change();
  // 51 MB are more than 48 MB.
  assert.deepEqual(all.filter(({ isEnded }) => isEnded).length, 1);
  assert.equal(all.at(-1)?.isEnded, true);
  const left = all.filter(({ isEnded }) => !isEnded).reduce((sum, { waiting }) => sum + waiting, 0);
  assert.ok(left <= unread.all);
});
