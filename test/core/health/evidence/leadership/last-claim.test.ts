/** The claim that stood last, of this run or of an earlier one (guard `survive`), and whether its node is silent. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SavedClaim } from "../../../../../src/core/cluster/leadership.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import {
  isSameLastClaim,
  isSilentClaim,
  lastClaimOf,
} from "../../../../../src/core/health/evidence/leadership/last-claim.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

const saved: SavedClaim = { node: "pg1", api: "http://pg1:8008", system: "1", atMs: -5_000 };

/** pg1 stood last in an earlier run. @param system the system of the position in this run; `null`: no position */
function restarted(claim: SavedClaim, system: string | null | undefined): ClusterState {
  const { cluster } = new ClusterFixture();
  const leadership = { ...cluster.leadership, incumbent: "pg1", savedClaim: claim };
  const position = { timeline: 1, highest: 1_000, peak: null, shared: [] };
  return { ...cluster, leadership, position: system === undefined ? null : { ...position, system } };
}

const rows: readonly (readonly [
  given: string,
  claim: Partial<SavedClaim>,
  system: string | null | undefined,
  counts: boolean,
])[] = [
  ["of the same system", {}, "1", true],
  ["of another system", { system: "2" }, "1", false],
  ["of an unknown system", { system: null }, "1", true],
  ["while the position's system is unknown", {}, null, true],
  ["before a position is known", {}, undefined, true],
  ["of another node", { node: "pg2" }, "1", false],
  ["at another address", { api: "http://elsewhere:8008" }, "1", false],
];

suite("a claim that an earlier run saved", () => {
  for (const [given, claim, system, counts] of rows)
    test(`${counts ? "counts" : "does not count"}: ${given}`, () => {
      const last = lastClaimOf(restarted({ ...saved, ...claim }, system));
      assert.equal(last?.atMs ?? null, counts ? saved.atMs : null);
    });
});

function leader(fields: StatusFields = {}): ClusterFixture {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, fields);
  watched.lead("pg1", 1_000, fields);
  return watched;
}

test("only the claim of a running primary counts", () => {
  assert.equal(lastClaimOf(leader().cluster)?.atMs, 1_000);
  for (const fields of [{ role: "standby_leader" }, { role: "replica" }, { state: "stopping" }])
    assert.equal(lastClaimOf(leader(fields).cluster), null, JSON.stringify(fields));
});

test("its node is silent after one failure, while it is down, and before its first answer", () => {
  const isSilent = (claim: ReturnType<typeof lastClaimOf>): boolean | null => claim && isSilentClaim(claim);
  assert.equal(isSilent(lastClaimOf(leading({}))), false);
  assert.equal(isSilent(lastClaimOf(leading({ failuresInRow: 1 }))), true);
  assert.equal(isSilent(lastClaimOf(leading({ isDown: true }))), true);
  assert.equal(isSilent(lastClaimOf(restarted(saved, "1"))), true);
});

/** A state in which pg1 leads, with changes to its observation. */
function leading(change: Partial<Observation>, node: Partial<Observation["node"]> = {}): ClusterState {
  const { cluster } = leader();
  const nodes = cluster.nodes.map((one, at) =>
    at === 0 ? { ...one, ...change, node: { ...one.node, ...node } } : one,
  );
  return { ...cluster, nodes };
}

suite("whether the last claim of two states is the same", () => {
  const failed = { failuresInRow: 1 };

  test("while its node is silent, the instant of its last answer matters", () => {
    assert.equal(isSameLastClaim(leading(failed), leading({ ...failed, failuresInRow: 2 })), true);
    assert.equal(isSameLastClaim(leading(failed), leading({ ...failed, lastHeldAtMs: 2_000 })), false);
    assert.equal(isSameLastClaim(leading({}), leading({ lastHeldAtMs: 2_000 })), true);
  });

  test("another node at the same address has another claim", () => {
    const { cluster } = leader();
    const leadership = { ...cluster.leadership, decision: { kind: "unclaimed", lastHolder: null } as const };
    const renamed = cluster.nodes.map((one, at) => (at === 0 ? { ...one, node: { ...one.node, name: "pg9" } } : one));
    const lastLoss = { node: "pg9", atMs: 0 };
    const after = { ...cluster, nodes: renamed, index: new Map([["pg9", 0]]), leadership: { ...leadership, lastLoss } };
    assert.equal(lastClaimOf(after)?.observation.node.name, "pg9");
    assert.equal(isSameLastClaim(cluster, after), false);
  });

  test("a node without an API has no claim that could change", () => {
    assert.equal(lastClaimOf(leading({}, { api: null })), null);
    assert.equal(isSameLastClaim(leading({}, { api: null }), leading(failed, { api: null })), true);
  });
});
