/** What is recorded of who leads, and of claims that are refused (rule 2). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { silentApi } from "../evidence/leadership/silent-api.ts";

/** pg1's API is silent, and its exporter is not. pg3's view names it. pg2 claims the lock, as it did before: refused. */
function claimedBeside(surviveMs: number): ClusterFixture {
  const watched = silentApi(20_000, surviveMs);
  watched.follow("pg3", 20_000);
  watched.nameLeader("pg1", "pg3", 20_000);
  const lostClaims = new Map([["pg2", { viewSentAtMs: 20_000, witnesses: ["pg1", "pg3"] }]]);
  watched.cluster = { ...watched.cluster, leadership: { ...watched.cluster.leadership, lostClaims } };
  watched.lead("pg2", 20_100);
  return watched;
}

function marksOf({ cluster }: ClusterFixture): readonly string[] {
  return [...cluster.leadership.refusedClaims].map(
    ([name, { beside, viewSentAtMs }]) => `${name} beside ${beside} at ${viewSentAtMs}`,
  );
}

suite("a claim beside a primary that survives the outage of its API", () => {
  test("is marked once a later view names the primary, and by each one after that", () => {
    const watched = claimedBeside(20_000);
    assert.equal(watched.judge("pg1", "/primary", 20_150), "degraded");
    assert.deepEqual(marksOf(watched), []);
    for (const atMs of [20_200, 20_300]) {
      watched.nameLeader("pg1", "pg3", atMs);
      assert.deepEqual(marksOf(watched), [`pg2 beside pg1 at ${atMs}`]);
    }
  });

  test("is marked also after its node reports no lock, and is refused when it claims it again", () => {
    const watched = claimedBeside(20_000);
    watched.nameLeader("pg1", "pg3", 20_200);
    watched.follow("pg2", 20_300);
    assert.deepEqual(marksOf(watched), ["pg2 beside pg1 at 20200"]);
    watched.lead("pg2", 20_400);
    assert.equal(watched.judge("pg2", "/primary", 20_450), "superseded");
  });

  test("is not marked without the guard: nobody stands beside whom it could be refused", () => {
    const watched = claimedBeside(0);
    watched.nameLeader("pg1", "pg3", 20_200);
    assert.deepEqual(marksOf(watched), []);
    watched.follow("pg2", 20_300);
    watched.lead("pg2", 20_400);
    assert.equal(watched.judge("pg2", "/primary", 20_450), "fit");
  });
});

test("the time since when a leader has stated its position counts from its first one on each timeline", () => {
  const watched = new ClusterFixture();
  const stated = (): unknown => watched.cluster.statedOn;
  watched.lead("pg1", 0);
  watched.lead("pg1", 1_000);
  assert.deepEqual(stated(), { leader: "pg1", timeline: 1, sinceMs: 0 });
  watched.lead("pg1", 2_000, { timeline: 2 });
  watched.lead("pg1", 3_000, { timeline: 2 });
  assert.deepEqual(stated(), { leader: "pg1", timeline: 2, sinceMs: 2_000 });
  watched.follow("pg1", 4_000, { timeline: 2 });
  watched.lead("pg2", 4_000, { timeline: 2, xlog: { location: 2_000 } });
  assert.deepEqual(stated(), { leader: "pg2", timeline: 2, sinceMs: 4_000 });
});
