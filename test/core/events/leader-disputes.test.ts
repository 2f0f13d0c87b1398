import assert from "node:assert/strict";
import { test } from "node:test";
import { LeaderDisputes } from "../../../src/core/events/leader-disputes.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

test("reports each episode of an undecided leadership once", () => {
  const watched = new ClusterFixture();
  const disputes = new LeaderDisputes();
  const find = (nowMs: number): string | null => {
    const dispute = disputes.find(watched.cluster, { policy: watched.policy, nowMs });
    return dispute === null ? null : `${dispute.claims.join(" and ")}, ${dispute.holder}`;
  };
  watched.lead("pg1", 0);
  assert.equal(find(0), null);
  watched.lead("pg2", 1_000);
  assert.equal(find(1_000), "pg1 and pg2, pg1");
  assert.equal(find(2_000), null);
  watched.follow("pg2", 3_000);
  assert.equal(find(3_000), null);
  watched.lead("pg1", 20_000);
  watched.lead("pg2", 20_000);
  assert.match(find(20_000) ?? "", /pg1 and pg2/);
});
