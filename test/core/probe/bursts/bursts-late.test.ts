/** Bursts of a process in which the answers of nodes wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TimedBursts } from "../../../fake/timed-bursts.ts";

for (const { what, begin, of } of [
  { what: "of the cluster's own", begin: (timed: TimedBursts) => timed.demote(), of: null },
  { what: "of a hint", begin: (timed: TimedBursts) => void timed.bursts.hint(null), of: null },
  {
    what: "of a hint that names a node",
    begin: (timed: TimedBursts) => void (timed.demote(), timed.bursts.hint("pg2")),
    of: "pg2",
  },
] as const)
  test(`a burst ${what} sends nothing while answers wait, and goes on when they are read`, async () => {
    const timed = new TimedBursts();
    timed.isLate = true;
    begin(timed);
    await timed.pass(1_000);
    assert.deepEqual(timed.sentAt(of), []);
    timed.isLate = false;
    await timed.pass(500);
    assert.ok(timed.sentAt(of).length >= 2, timed.sentAt(of).join(" "));
  });

test("the time in which a burst sent nothing is not spent", async () => {
  const timed = new TimedBursts();
  timed.isLate = true;
  for (let time = 0; time < 60; time += 1) {
    timed.bursts.hint(null);
    await timed.pass(1_000);
  }
  timed.isLate = false;
  await timed.pass(60_000);
  assert.equal(timed.bursts.hint(null), "begun");
});
