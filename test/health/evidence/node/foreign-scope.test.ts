import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { viewAt } from "../../../../src/health/evidence/leadership/cluster-view.ts";
import { foreignScopes, foreignScopeText } from "../../../../src/health/evidence/node/foreign-scope.ts";
import { situationOf } from "../../../../src/health/documents/situation.ts";
import { readSwitchoverRequest } from "../../../../src/switchover/run/read-request.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const seeds = ["http://10.0.0.1:8008", "http://10.0.0.2:8008"];

/** A cluster of the scope `orders` whose addresses answer for another one. */
function foreign(scope: string, count = 1): ClusterFixture {
  const fixture = new ClusterFixture({
    nodes: [],
    cluster: { discover: seeds, scope: "orders" },
    policy: { configured: seeds },
  });
  for (const [at, seed] of seeds.slice(0, count).entries())
    fixture.answer(seed, { fields: { patroni: { name: `pg${at}`, scope, version: "4.0.4" } } }, 100 * at);
  return fixture;
}

describe("addresses that answer for another cluster", () => {
  const expected = "10.0.0.1:8008 reports scope c330, expected orders: set scope";

  test("are named with both scopes", () => {
    const { cluster } = foreign("c330");
    assert.deepEqual(foreignScopes(cluster), [{ address: "10.0.0.1:8008", scope: "c330" }]);
    assert.equal(foreignScopeText(cluster), expected);
    assert.equal(
      foreignScopeText(foreign("c330", 2).cluster),
      "10.0.0.1:8008, 10.0.0.2:8008 report scope c330, expected orders: set scope",
    );
    assert.equal(foreignScopeText(foreign("orders").cluster), null);
  });

  test("are why no node is known, in the situation and where a node is named", () => {
    const fixture = foreign("c330");
    const situation = situationOf(viewAt(fixture.cluster, fixture.policy, 1_000), { nodes: [], asked: [], wallMs: 0 });
    assert.deepEqual([situation.condition, situation.cause], ["without nodes", expected]);
    assert.match(situation.action ?? "", /scope of the cluster in the configuration/);
    const request = readSwitchoverRequest({ seamless: true, candidate: "pg2" }, fixture.cluster, true);
    assert.deepEqual(request, {
      problem: `Cannot read the request for a switchover: candidate must be a node of the cluster, of which none is known (${expected}), got pg2`,
    });
  });
});
