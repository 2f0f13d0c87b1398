/** Who leaves if there are too many members (rule 10). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noContact } from "../../../../src/core/cluster/contact.ts";
import { neverProbed, type Observation, type Proof } from "../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { bounded, discovered, withMembers, withNodes } from "../../../../src/core/health/observe/membership.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { listingView, memberAt } from "../../../fake/listing-view.ts";

const nowMs = 1_000_000;
const seeds = ["s1", "s2", "s3", "s4", "s5"].map((host) => `http://${host}:8008`);
const { cluster: empty, policy: settings } = new ClusterFixture({ nodes: [], cluster: { discover: seeds } });
const policy = { ...settings, configured: seeds };

function rowOf(name: string, isSync = false) {
  return { ...memberAt(name, `http://${name}:8008`), isSync };
}

function viewWith(names: readonly string[]) {
  return listingView(Object.fromEntries(names.map((name) => [name, `http://${name}:8008`])));
}

interface Kind {
  readonly proof?: Proof;
  /** When the last list had it, before now in ms. */
  readonly listed?: number;
  readonly isFixed?: boolean;
  readonly api?: string;
}

function nodeAs(name: string, { proof = "none", listed = 10, isFixed = false, api }: Kind = {}): Observation {
  const node = { ...discovered(memberAt(name, api ?? `http://${name}:8008`)), isFixed };
  return { ...neverProbed(node), proof, listedAtMs: nowMs - listed };
}

const syncNames = Array.from({ length: 17 }, (_, at) => `sync${at}`);
const namedSync = ["named-sync", "named-sync2"];

/** Who is what in the cluster: by its leader, the leader's list, the lists of its seeds, and the list to apply. */
const cluster: ClusterState = {
  ...empty,
  leadership: { ...empty.leadership, decision: { kind: "held", holder: "leader", by: "sole", witnesses: [] } },
  leaderViews: new Map([
    ["leader", { ...listingView({}), members: new Map(syncNames.map((name) => [name, rowOf(name, true)])) }],
  ]),
  contacts: new Map(
    [["most", "two"], ["most", "two"], ["most"], ["other"], ["other"]].map((names, at) => [
      seeds[at] ?? "",
      { ...noContact, view: viewWith(names) },
    ]),
  ),
};
const list = {
  members: [rowOf("a"), ...namedSync.map((name) => rowOf(name, true))],
  leader: "named",
  isPartial: false,
  source: seeds[0] ?? "",
  sentAtMs: nowMs,
};

const kinds: Readonly<Record<string, Kind>> = {
  fixed: { isFixed: true },
  configured: { api: seeds[1] ?? "" },
  settled: { proof: "settled" },
  proved: { proof: "proved" },
  seed: { proof: "seed" },
};

/** 127 nodes that stay, and two of which one has to leave. The latter are in the order in which they come. */
function leaverOf(one: Observation, other: Observation): string {
  const fixed = Array.from({ length: 127 }, (_, at) => nodeAs(`fixed${at}`, { isFixed: true, listed: 0 }));
  const stay = bounded([...fixed, one, other], { cluster, policy, nowMs, list });
  assert.equal(stay.length, 128);
  return stay.includes(one) ? other.node.name : one.node.name;
}

suite("of too many members the one leaves, not the other", () => {
  for (const [leaves, stays] of [
    ["leader", "fixed"],
    ["leader", "configured"],
    ["sync0", "leader"],
    ["named", "sync0"],
    ["named", "sync15"],
    ["sync16", "named"],
    ["settled", "named"],
    ["settled", "named-sync"],
    ["settled", "named-sync2"],
    ["settled", "most"],
    ["two", "settled"],
    ["a", "proved"],
    ["proved", "settled"],
    ["seed", "settled"],
    ["listed", "seed"],
    ["listed", "proved"],
  ] as const)
    test(`${leaves}, not ${stays}`, () => {
      // Only what they are decides: lists had the one later, and it comes first.
      const one = nodeAs(leaves, { ...kinds[leaves], listed: 5 });
      const other = nodeAs(stays, { ...kinds[stays], listed: 50 });
      assert.equal(leaverOf(one, other), leaves);
    });

  const table: readonly (readonly [given: string, one: Kind, other: Kind, leaves: string])[] = [
    ["a list had the second later", { listed: 20 }, { listed: 10 }, "one"],
    ["a list had the first later", { listed: 10 }, { listed: 20 }, "other"],
    ["lists had both at once", {}, {}, "other"],
    ["lists omit one that has proved itself for a minute", { proof: "settled", listed: 60_000 }, {}, "one"],
    ["lists omit it for less than that", { proof: "settled", listed: 59_999 }, {}, "other"],
    [
      "lists omit both, and one of them has proved itself",
      { proof: "settled", listed: 70_000 },
      { listed: 60_000 },
      "one",
    ],
  ];
  for (const [given, one, other, leaves] of table)
    test(given, () => {
      assert.equal(leaverOf(nodeAs("one", one), nodeAs("other", other)), leaves);
    });

  test("a member that most lists of other servers than configured addresses have is no better than others", () => {
    const known = withNodes(empty, [nodeAs("w1", { proof: "settled" }), nodeAs("w2", { proof: "settled" })]);
    const leaderViews = new Map(["w1", "w2"].map((name) => [name, viewWith(["chosen"])]));
    const fixed = Array.from({ length: 127 }, (_, at) => nodeAs(`fixed${at}`, { isFixed: true }));
    const all = [...fixed, nodeAs("chosen", { listed: 20 }), nodeAs("newer")];
    const stay = bounded(all, { cluster: { ...known, leaderViews }, policy, nowMs });
    assert.equal(stay.at(-1)?.node.name, "newer");
  });
});

test("members that are configured stay, however many", () => {
  const fixed = Array.from({ length: 130 }, (_, at) => nodeAs(`fixed${at}`, { isFixed: true }));
  assert.deepEqual(bounded([...fixed, nodeAs("leader")], { cluster, policy, nowMs }), fixed);
});

test("as many members as are kept are the same list, so that nothing changes", () => {
  for (const count of [1, 128]) {
    const nodes = Array.from({ length: count }, (_, at) => nodeAs(`n${at}`));
    assert.equal(bounded(nodes, { cluster, policy, nowMs }), nodes, `${count}`);
  }
});

suite("of members that never answered, and that a list omits,", () => {
  /** The names of those that leave when a list has nobody of them. */
  function leaversOf(nodes: readonly Observation[], isPartial = false): readonly string[] {
    const known = withNodes(empty, nodes);
    const after = withMembers(known, { ...list, members: [rowOf("a")], leader: null, isPartial }, policy);
    const names = new Set(after.nodes.map(({ node }) => node.name));
    return nodes.flatMap(({ node }) => (names.has(node.name) ? [] : [node.name]));
  }
  const many = (count: number, kind: Kind = {}) =>
    Array.from({ length: count }, (_, at) => nodeAs(`n${at}`, { listed: 1_000 + at, ...kind }));

  for (const [given, nodes, leave] of [
    ["thirty-two stay", many(32), []],
    ["the one leaves that lists have omitted the longest, if they are thirty-three", many(33), ["n32"]],
    ["and two if they are thirty-four", many(34), ["n32", "n33"]],
    [
      "none leaves that has answered at its address, for however long lists omit it",
      many(40, { proof: "settled", listed: 90_000 }),
      [],
    ],
    ["nor one that is configured", many(40, { isFixed: true, listed: 90_000 }), []],
  ] as const)
    test(given, () => {
      assert.deepEqual(leaversOf(nodes), leave);
    });

  test("all stay, if the list may lack members", () => {
    assert.deepEqual(leaversOf(many(40), true), []);
  });
});

suite("the index of the nodes, and who claims the lock,", () => {
  const claiming = (name: string, hasLock = true): Observation => ({ ...nodeAs(name), hasLock });
  const before = withNodes(empty, [claiming("pg1"), claiming("pg2", false)]);
  const table: readonly (readonly [
    given: string,
    nodes: readonly Observation[],
    index: readonly string[],
    claims: readonly number[],
  ])[] = [
    ["the second has another name", [claiming("pg1"), claiming("pg3", false)], ["pg1", "pg3"], [0]],
    ["the first has another name", [claiming("pg3"), claiming("pg2", false)], ["pg3", "pg2"], [0]],
    ["the second claims the lock, too", [claiming("pg1"), claiming("pg2")], ["pg1", "pg2"], [0, 1]],
    ["the first claims it no longer", [claiming("pg1", false), claiming("pg2", false)], ["pg1", "pg2"], []],
    ["the order is another one", [claiming("pg2", false), claiming("pg1")], ["pg2", "pg1"], [1]],
    ["the second has left", [claiming("pg1")], ["pg1"], [0]],
    ["a third one has come", [...before.nodes, claiming("pg3")], ["pg1", "pg2", "pg3"], [0, 2]],
    ["all have left", [], [], []],
  ];
  for (const [given, nodes, index, claims] of table)
    test(`follow the nodes: ${given}`, () => {
      const after = withNodes(before, nodes);
      assert.deepEqual(
        [...after.index],
        index.map((name, at) => [name, at]),
      );
      assert.deepEqual(after.lockClaims, claims);
    });

  test("stay the same objects while neither changes", () => {
    const after = withNodes(before, [claiming("pg1"), claiming("pg2", false)]);
    assert.equal(after.index, before.index);
    assert.equal(after.lockClaims, before.lockClaims);
  });
});
