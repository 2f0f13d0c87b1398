import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { FeedGroup } from "../../../../src/features/follow/owner/feed-group.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";

function group(): { readonly clock: ManualClock; readonly sent: Buffer[]; readonly feed: FeedGroup } {
  const clock = new ManualClock();
  const sent: Buffer[] = [];
  const feed = new FeedGroup({
    reading: () => ({ monotonicMs: clock.nowMs, addedMs: 0 }),
    setTimer: (run, delayMs) => clock.setTimer(run, delayMs),
    send: (bytes) => sent.push(bytes),
    groups: () => 1,
  });
  return { clock, sent, feed };
}

const add = (feed: FeedGroup, sentAtMs: number, node = "pg1"): void =>
  feed.add({ kind: "liveness", cluster: "demo", node, sentAtMs, isAlive: true });

test("what comes within a moment is one message, and its ages are those of its sending", async () => {
  const { clock, sent, feed } = group();
  add(feed, 999);
  add(feed, 1_000);
  assert.deepEqual(sent, []);
  await clock.pass(10);
  const [only] = sent;
  assert.ok(only !== undefined);
  const { seq, at, changes } = JSON.parse(gunzipSync(only).toString());
  assert.deepEqual([seq, at, changes.map(({ ageMs }: { ageMs: number }) => ageMs)], [1, 1_005, [6, 5]]);
});

test("a follower gets what it has missed, for half a minute", async () => {
  const { clock, sent, feed } = group();
  for (let count = 0; count < 4; count += 1) {
    add(feed, clock.nowMs);
    await clock.pass(10_000);
  }
  assert.deepEqual(feed.since(2), sent.slice(2));
  assert.deepEqual(feed.since(4), []);
  add(feed, clock.nowMs);
  await clock.pass(10);
  assert.equal(feed.since(0), null, "the first message is no longer kept");
  assert.deepEqual(feed.since(1), sent.slice(1));
  assert.equal(feed.since(6), null, "there is no such message");
});

test("what waits is sent before somebody joins", () => {
  const { clock, sent, feed } = group();
  add(feed, 1_000);
  feed.beginAnew();
  assert.equal(sent.length, 1);
  add(feed, 1_001);
  feed.stop();
  assert.equal(clock.timers, 0);
});
