/** The lengths, the intervals and the turns of bursts of named nodes, to the millisecond. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TimedBursts } from "../../../fake/timed-bursts.ts";

/** The gaps between the probes of named nodes. */
function gapsOf(timed: TimedBursts): readonly number[] {
  const sent = ["pg2", "pg3"].flatMap((node) => timed.sentAt(node)).toSorted((one, other) => one - other);
  return sent.slice(1).map((atMs, at) => atMs - (sent[at] ?? 0));
}

test("a named node is probed at once, then every 50 ms for 10 s", async () => {
  const timed = new TimedBursts();
  assert.equal(timed.bursts.hint("pg2"), "begun");
  await timed.pass(20_000);
  const sent = timed.sentAt("pg2");
  assert.deepEqual([sent[0], sent.length, sent.at(-1)], [1_000, 200, 10_950]);
  assert.deepEqual(new Set(gapsOf(timed)), new Set([50]));
  assert.deepEqual(new Set(timed.reported), new Set([1]));
  assert.deepEqual([timed.sentAt(null), timed.timers], [[], 0]);
});

test("the burst of a node is running for 10 s, then a hint begins another", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint("pg2");
  await timed.pass(9_999);
  assert.equal(timed.bursts.hint("pg2"), "running");
  timed.skip(1);
  assert.equal(timed.bursts.hint("pg2"), "begun");
  assert.deepEqual(timed.causes, ["demo hint", "demo hint"]);
});

test("a node whose probe is in flight is looked at again every 10 ms", async () => {
  const timed = new TimedBursts();
  timed.busy.add("pg2");
  timed.bursts.hint("pg2");
  await timed.pass(25);
  timed.busy.clear();
  await timed.pass(60);
  assert.deepEqual(timed.sentAt("pg2"), [1_030, 1_080]);
});

test("the first probe of another named node keeps 50 ms to the last probe", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint("pg2");
  await timed.pass(20);
  timed.bursts.hint("pg3");
  await timed.pass(1_000);
  assert.deepEqual(new Set(gapsOf(timed)), new Set([50]));
  assert.deepEqual(timed.sentAt("pg3").slice(0, 2), [1_100, 1_200]);
});

test("a node whose probe is in flight hardly delays that of another named node", async () => {
  const timed = new TimedBursts();
  timed.busy.add("pg2");
  timed.bursts.hint("pg2");
  await timed.pass(1);
  timed.bursts.hint("pg3");
  await timed.pass(100);
  assert.equal(timed.sentAt("pg3")[0], 1_011);
});

test("the burst of a node ends when the node leaves the cluster", async () => {
  const timed = new TimedBursts();
  timed.bursts.hint("pg2");
  await timed.pass(999);
  timed.leave("pg2");
  await timed.pass(1_000);
  assert.equal(timed.sentAt("pg2").at(-1), 1_950);
  assert.equal(timed.bursts.hint("pg2"), "unknown");
});

test("hints that name nodes use 30 s in 10 minutes, however many nodes they name", async () => {
  const timed = new TimedBursts();
  for (let time = 0; time < 400; time += 1) {
    timed.bursts.hint(time % 2 === 0 ? "pg2" : "pg3");
    await timed.pass(100);
  }
  assert.equal(timed.sentAt("pg2").length + timed.sentAt("pg3").length, 600);
  assert.deepEqual([timed.bursts.hint("pg2"), timed.bursts.hint("pg1")], ["spent", "writable"]);
});

test("a node that claims the lock is probed often until it is writable", async () => {
  const timed = new TimedBursts();
  timed.fixture.answer("pg2", { hasLock: true, fields: { role: "replica" } }, timed.nowMs);
  timed.fixture.follow("pg1", timed.nowMs);
  timed.bursts.claimed("pg2");
  await timed.pass(500);
  assert.equal(timed.sentAt("pg2").length, 11);
  timed.fixture.lead("pg2", timed.nowMs);
  await timed.pass(5_000);
  assert.equal(timed.sentAt("pg2").length, 11);
  assert.equal(timed.bursts.hint("pg2"), "writable");
});
