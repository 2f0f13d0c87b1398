/** Bursts of a process in which the answers of nodes wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TimedBursts } from "../../../fake/timed-bursts.ts";

for (const { what, begin, waitMs, of } of [
  { what: "of the cluster's own", begin: (timed: TimedBursts) => timed.demote(), waitMs: 251, of: null },
  { what: "of a hint", begin: (timed: TimedBursts) => void timed.bursts.hint(null), waitMs: 51, of: null },
  {
    what: "of a hint that names a node",
    begin: (timed: TimedBursts) => void (timed.demote(), timed.bursts.hint("pg2")),
    waitMs: 251,
    of: "pg2",
  },
] as const)
  test(`a burst ${what} sends nothing while answers wait, and goes on when they are read`, async () => {
    const timed = new TimedBursts();
    timed.answersWaitMs = waitMs;
    begin(timed);
    await timed.pass(1_000);
    assert.deepEqual(timed.sentAt(of), []);
    timed.answersWaitMs = 0;
    await timed.pass(500);
    assert.ok(timed.sentAt(of).length >= 2, timed.sentAt(of).join(" "));
  });

test("the time in which a burst sent nothing is not spent", async () => {
  const timed = new TimedBursts();
  timed.answersWaitMs = 251;
  for (let time = 0; time < 60; time += 1) {
    timed.bursts.hint(null);
    await timed.pass(1_000);
  }
  timed.answersWaitMs = 0;
  await timed.pass(60_000);
  assert.equal(timed.bursts.hint(null), "begun");
});

test("a cluster without a primary goes before one that has its new primary: its burst goes on while answers wait a little", async () => {
  const leaderless = new TimedBursts();
  leaderless.answersWaitMs = 200;
  leaderless.demote();
  await leaderless.pass(1_000);
  assert.ok(leaderless.sentAt(null).length >= 4, leaderless.sentAt(null).join(" "));
  const promoted = new TimedBursts();
  promoted.bursts.claimed("pg2");
  promoted.answersWaitMs = 200;
  await promoted.pass(1_000);
  assert.deepEqual(promoted.sentAt(null), []);
});
