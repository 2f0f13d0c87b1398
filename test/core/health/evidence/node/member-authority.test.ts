import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseClusterDocument } from "../../../../../src/core/cluster/documents/cluster-document.ts";
import { authorityOf, byName } from "../../../../../src/core/health/evidence/node/member-authority.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { applyMemberList, discoveringCluster } from "../../../../fake/member-lists.ts";

/** The rows of a member list: name and host each; the first one leads. */
type Rows = readonly (readonly [name: string, host: string])[];

function listOf(rows: Rows) {
  const members = rows.map(([name, host], index) => {
    const role = index === 0 ? "leader" : "replica";
    return { name, role, state: "running", api_url: `http://${host}:8008/patroni` };
  });
  const document = parseClusterDocument({ scope: "demo", members });
  assert.ok(document !== undefined);
  return { members: document.members, leader: document.leader, isPartial: document.isPartial };
}

/** The fixed node pg1, whose member name is db1, leads. */
function led(): ClusterFixture {
  const watched = new ClusterFixture({
    nodes: [{ name: "pg1", api: "http://pg1:8008", member: "db1" }, "pg2"],
  });
  watched.lead("pg1", 0, { patroni: { version: "4.1.4", scope: "demo", name: "db1" } });
  return watched;
}

suite("a member list names the lock holder", () => {
  const rows: readonly (readonly [title: string, rows: Rows, namesHolder: boolean])[] = [
    ["by its address", [["other", "pg1"]], true],
    ["by its member name, at another address than the configured one", [["db1", "elsewhere"]], true],
    ["by its configured name, at another address than the configured one", [["pg1", "elsewhere"]], true],
    ["not by another name at another address", [["pg3", "elsewhere"]], false],
    [
      "not as a replica",
      [
        ["pg3", "elsewhere"],
        ["db1", "pg1"],
      ],
      false,
    ],
  ];
  for (const [title, listed, expected] of rows)
    test(title, () => {
      const { cluster, policy } = led();
      const list = { ...listOf(listed), source: "seed", sentAtMs: 1_000 };
      assert.equal(authorityOf(cluster, list, policy).namesHolder, expected);
    });
});

suite("a member list names a discovered lock holder", () => {
  const rows: readonly (readonly [title: string, host: string, namesHolder: boolean])[] = [
    ["at the address where it answers", "pg1", true],
    ["not at another address: a clone has members of the same names", "elsewhere", false],
  ];
  for (const [title, host, expected] of rows)
    test(title, () => {
      const watched = discoveringCluster();
      applyMemberList(watched, ["pg1", "pg2"], 0);
      watched.lead("pg1", 0);
      const list = { ...listOf([["pg1", host]]), source: "seed", sentAtMs: 1_000 };
      assert.equal(authorityOf(watched.cluster, list, watched.policy).namesHolder, expected);
    });
});

suite("a member list is the own document of", () => {
  const rows: readonly (readonly [title: string, given: (watched: ClusterFixture) => void, ownOf: string | null])[] = [
    ["a node that answers", (watched) => watched.follow("pg2", 500), "pg2"],
    ["no node that never answered", () => {}, null],
    [
      "no node that stopped answering",
      (watched) => {
        watched.follow("pg2", 0);
        for (const atMs of [1_000, 2_000, 3_000]) watched.fail("pg2", "timeout", atMs);
      },
      null,
    ],
    [
      "no node at whose address another one answers",
      (watched) => watched.follow("pg2", 500, { patroni: { version: "4.1.4", scope: "demo", name: "pg3" } }),
      null,
    ],
  ];
  for (const [title, given, ownOf] of rows)
    test(title, () => {
      const watched = led();
      given(watched);
      const list = { ...listOf([["db1", "pg1"]]), source: "pg2", sentAtMs: 3_500 };
      assert.equal(authorityOf(watched.cluster, list, watched.policy).ownOf, ownOf);
    });
});

test("of two rows with one name the first one counts", () => {
  const { members } = listOf([
    ["pg1", "first"],
    ["pg1", "second"],
  ]);
  assert.deepEqual(
    [...byName(members)].map(([name, { api }]) => [name, api]),
    [["pg1", "http://first:8008"]],
  );
});
