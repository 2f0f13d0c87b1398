import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { foreignScopes, foreignScopeText } from "../../../../../src/core/health/evidence/node/foreign-scope.ts";
import { situationOf } from "../../../../../src/core/health/documents/situation.ts";
import { readSwitchoverRequest } from "../../../../../src/features/switchover/run/read-request.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** A cluster whose addresses, from 10.0.0.1 on, answer for these scopes. Its own scope is `orders`, if it has one. */
function answering(scopes: readonly (string | null)[], own: string | null = "orders"): ClusterFixture {
  const seeds = scopes.map((_, at) => `http://10.0.0.${at + 1}:8008`);
  const fixture = new ClusterFixture({
    nodes: [],
    cluster: { discover: seeds, scope: own },
    policy: { configured: seeds },
  });
  for (const [at, seed] of seeds.entries()) {
    const scope = scopes[at] ?? null;
    const patroni = { name: `pg${at}`, version: "4.0.4", ...(scope === null ? {} : { scope }) };
    fixture.answer(seed, { fields: { patroni } }, 100 * at);
  }
  return fixture;
}

function foreign(scope: string, count = 1): ClusterFixture {
  return answering(Array.from({ length: count }, () => scope));
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

  const texts: readonly (readonly [given: string, scopes: readonly (string | null)[], text: string | null])[] = [
    ["one", ["c330"], "10.0.0.1:8008 reports"],
    ["three", ["c330", "c330", "c330"], "10.0.0.1:8008, 10.0.0.2:8008, 10.0.0.3:8008 report"],
    ["four", Array<string>(4).fill("c330"), "10.0.0.1:8008, 10.0.0.2:8008, 10.0.0.3:8008 and 1 more report"],
    ["six", Array<string>(6).fill("c330"), "10.0.0.1:8008, 10.0.0.2:8008, 10.0.0.3:8008 and 3 more report"],
    ["those of the first scope", ["c330", "c331", "c330"], "10.0.0.1:8008, 10.0.0.3:8008 report"],
    ["those with another scope", ["orders", "c330"], "10.0.0.2:8008 reports"],
    ["none that states no scope", [null, "c330"], "10.0.0.2:8008 reports"],
    ["none", ["orders", null], null],
  ];
  for (const [given, scopes, text] of texts)
    test(`are named: ${given}`, () => {
      const found = foreignScopeText({ ...answering(scopes).cluster, nodes: [] });
      assert.equal(found, text === null ? null : `${text} scope c330, expected orders: set scope`);
    });

  test("are no reason while a node is known, although they are foreign", () => {
    const { cluster } = foreign("c330");
    const nodes = new ClusterFixture({ nodes: ["pg1"] }).cluster.nodes;
    assert.equal(foreignScopeText({ ...cluster, nodes }), null);
    assert.equal(foreignScopes({ ...cluster, nodes }).length, 1);
  });

  test("do not exist while the cluster's own scope is unknown", () => {
    const cluster = { ...foreign("c330").cluster, scope: null };
    assert.deepEqual(foreignScopes(cluster), []);
    assert.equal(foreignScopeText(cluster), null);
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
