import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LeaderPosition } from "../../../../../src/core/cluster/snapshot.ts";
import {
  advancePosition,
  positionStatedBeforeTakeover,
} from "../../../../../src/core/health/evidence/position/position.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import type { StatusFields } from "../../../../fake/node-documents.ts";

test("a position that replicas received counts as stated once the leader states the same one", () => {
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { xlog: { location: 5_000 } });
  const { cluster, policy } = watched;
  const [leader] = cluster.nodes;
  assert.ok(leader !== undefined && cluster.position !== null);
  assert.equal(leader.node.name, "pg1");
  const received = { ...cluster, position: { ...cluster.position, peak: null } };
  const observed = { before: leader, observation: leader, holder: "pg1", nowMs: 0 };
  assert.deepEqual(advancePosition(received, observed, policy), cluster.position);
});

suite("what a node stated before it got the lock", () => {
  const system = "7000000000000000001";
  const known: LeaderPosition = { system, timeline: 2, highest: 5_000, peak: null, shared: [] };
  const at = (location: number): StatusFields => ({ timeline: 2, xlog: { location } });
  const rows: readonly {
    readonly given: string;
    readonly known: LeaderPosition | null;
    readonly says: StatusFields;
    readonly hasLock?: boolean;
    /** The position that counts; `null`: the known one. */
    readonly counts: number | null;
  }[] = [
    { given: "a higher position on the same timeline", known, says: at(5_001), counts: 5_001 },
    { given: "a position on a higher timeline", known, says: { ...at(4_000), timeline: 3 }, counts: 4_000 },
    { given: "a position while none is known", known: null, says: at(4_000), counts: 4_000 },
    { given: "the known position", known, says: at(5_000), counts: null },
    { given: "a position on a lower timeline", known, says: { ...at(9_000), timeline: 1 }, counts: null },
    {
      given: "a position of another database system",
      known: { ...known, system: "7000000000000000002" },
      says: at(9_000),
      counts: null,
    },
    { given: "a position without a timeline", known: null, says: { ...at(4_000), timeline: null }, counts: null },
    {
      given: "the position of a node that is not promoted",
      known,
      says: { role: "replica", timeline: 2, xlog: { received_location: 9_000, replayed_location: 9_000 } },
      counts: null,
    },
    { given: "the position of a node without the lock", known, says: at(9_000), hasLock: false, counts: null },
    { given: "no position", known, says: { timeline: 2, xlog: null }, counts: null },
  ];
  for (const { given, known: position, says, hasLock = true, counts } of rows)
    test(`${given} ${counts === null ? "does not count" : "counts"}`, () => {
      const watched = new ClusterFixture();
      watched.answer("pg1", { hasLock, fields: { role: "primary", database_system_identifier: system, ...says } }, 0);
      const [leader] = watched.cluster.nodes;
      assert.ok(leader !== undefined);
      const after = positionStatedBeforeTakeover({ ...watched.cluster, position }, leader, watched.policy);
      if (counts === null) assert.equal(after, position);
      else assert.deepEqual([after?.highest, after?.peak], [counts, { leader: "pg1", highest: counts, last: counts }]);
    });
});
