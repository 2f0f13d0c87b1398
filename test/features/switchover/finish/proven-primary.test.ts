import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import {
  evidenceOf,
  provenPrimary,
  servingPrimary,
} from "../../../../src/features/switchover/finish/proven-primary.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const system = "7300000000000000001";

/** A cluster in which pg2 says that it leads, as a process sees it that has just begun to ask. */
function promoted(
  fields: { readonly timeline?: number; readonly database_system_identifier?: string } = {},
): ClusterFixture {
  const fixture = new ClusterFixture();
  fixture.follow("pg3", 0, { database_system_identifier: system });
  fixture.lead("pg2", 0, { timeline: 5, database_system_identifier: system, ...fields });
  return fixture;
}

describe("the primary that clients are led to by who has not followed the cluster", () => {
  const evidence = { systemIdentifier: system, timeline: 4 };
  const proven = (fixture: ClusterFixture, wanted = evidence): string | null =>
    provenPrimary(viewAt(fixture.cluster, fixture.policy, 200), wanted, { leader: "pg1", start: "request" });

  test("is named by another node: one that answers alone may be a clone", () => {
    const fixture = promoted();
    assert.equal(servingPrimary(viewAt(fixture.cluster, fixture.policy, 200)), "pg2");
    assert.equal(proven(fixture), null);
    fixture.nameLeader("pg2", "pg2", 100, { timeline: 5 });
    assert.equal(proven(fixture), null, "its own view is not enough");
    fixture.nameLeader("pg2", "pg3", 110, { timeline: 5 });
    assert.equal(proven(fixture), "pg2");
  });

  test("is of the same system, and its timeline is not lower", () => {
    const fixture = promoted();
    fixture.nameLeader("pg2", "pg3", 110, { timeline: 5 });
    assert.equal(proven(fixture, { ...evidence, systemIdentifier: "7300000000000000002" }), null);
    assert.equal(proven(fixture, { ...evidence, timeline: 6 }), null);
    assert.equal(proven(fixture, { ...evidence, timeline: 5 }), "pg2");
    assert.equal(
      provenPrimary(viewAt(fixture.cluster, fixture.policy, 200), evidence, { leader: "pg2", start: "request" }),
      "pg2",
    );
  });

  test("is none without evidence", () => {
    assert.equal(provenPrimary(null, evidence, { leader: "pg1", start: "request" }), null);
    const fixture = new ClusterFixture();
    assert.equal(proven(fixture), null);
    assert.deepEqual(evidenceOf(viewAt(fixture.cluster, fixture.policy, 0), "pg1"), {
      systemIdentifier: null,
      timeline: null,
    });
    assert.deepEqual(evidenceOf(viewAt(promoted().cluster, fixture.policy, 0), "pg2"), {
      systemIdentifier: system,
      timeline: 5,
    });
  });
});
