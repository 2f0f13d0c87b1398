/** Which address becomes whose after new evidence, and what is known at it (rule 10). Addresses are hosts, as `a`. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noAttachment } from "../../../../src/core/cluster/attachment.ts";
import { noContact, type Contact } from "../../../../src/core/cluster/contact.ts";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import type { ClusterState, WitnessView } from "../../../../src/core/cluster/snapshot.ts";
import { settleAddresses } from "../../../../src/core/health/observe/settle-addresses.ts";
import { nat, rows, toB } from "./settle-addresses-rows.ts";
import {
  clusterOf,
  describeAddresses,
  down,
  lists,
  nodeAs,
  nowMs,
  other,
  own,
  says,
  statedBy,
  urlOf,
  type Given,
} from "./unsettled-cluster.ts";

const pg2 = statedBy("pg2");

function settle(given: Given): ReturnType<typeof settleAddresses> & { readonly before: ClusterState } {
  const { cluster, context } = clusterOf(given);
  return { ...settleAddresses(cluster, context), before: cluster };
}

suite("the members and their addresses after new evidence", () => {
  for (const { given, found, taken = [], same = [], ...input } of rows)
    test(given, () => {
      const { before, state, taken: nodes } = settle(input);
      assert.deepEqual(describeAddresses(state), found);
      assert.deepEqual(
        nodes.map(({ node }) => node),
        taken,
      );
      const kept = state.nodes.filter((node) => before.nodes.includes(node)).map(({ node }) => node.name);
      assert.deepEqual(kept, same);
    });

  test("stay as they are while nothing is new, and so does the whole state", () => {
    const { before, state } = settle({
      nodes: [nodeAs("pg1 a settled", { report: statedBy("pg1") }), nodeAs("pg2 b proved", { report: pg2 })],
    });
    assert.equal(state, before);
  });
});

suite("what is known of a member at its new address", () => {
  const database = { host: "old", port: 5432 };
  const attachment = { ...noAttachment, silentMs: 7 };
  const listed = { s: says("s", lists({ pg2: "b" }, "listed")), b: says("pg2") };
  const row = (given: string, input: Given, host: string | undefined) => ({ given, input, host });
  for (const { given, input, host } of [
    row("a new one: its database is where the list has it", { at: listed }, "listed"),
    row("so is that of one that is known", { nodes: [nodeAs("pg2 a", { of: { database } })], at: listed }, "listed"),
    row(
      "of two lists that of the server at its address counts",
      { at: { ...listed, b: says("pg2", lists({ pg2: "b" }, "own")) } },
      "own",
    ),
    row(
      "but not if that has it at another address",
      { at: { ...listed, b: says("pg2", lists({ pg2: "else" }, "own")) } },
      "listed",
    ),
    row(
      "its database stays where it was, if no list has its address",
      { nodes: [nodeAs("pg2 in2", { of: { database } })], at: nat },
      "old",
    ),
    row(
      "so it does if the list with its address does not state it",
      { nodes: [nodeAs("pg2 a", { of: { database } })], at: toB },
      "old",
    ),
    row(
      "and if it is configured",
      { nodes: [nodeAs("db2 -", { of: { database, member: "pg2", isFixed: true } })], at: listed },
      "old",
    ),
    row(
      "but a configured node without one has that of the list",
      { nodes: [nodeAs("db2 -", { of: { member: "pg2", isFixed: true } })], at: listed },
      "listed",
    ),
    row("nowhere, if nothing states it", { at: toB }, undefined),
  ])
    test(given, () => {
      assert.equal(settle(input).state.nodes[0]?.node.database?.host, host);
    });

  test("what an earlier run saved for it stays, if that was at the same address", () => {
    for (const [host, silentMs] of [
      ["b", 7],
      ["a", 0],
    ] as const) {
      const [found] = settle({ nodes: [nodeAs(`pg2 ${host}`, { attachment })], at: toB }).state.nodes;
      assert.equal(found?.attachment.silentMs, silentMs, host);
    }
  });

  test("a configured node's is settled, even if only a tie decides for it", () => {
    const { state } = settle({
      discover: ["b", "a"],
      nodes: [nodeAs("db2 -", { of: { member: "pg2", isFixed: true } })],
      at: { b: says("pg2", lists({ pg2: "b" })), a: says("pg1", lists({ pg9: "c" })) },
    });
    assert.deepEqual(describeAddresses(state), ["db2 b settled"]);
  });

  test("a report under another name stays, so that it is seen who answers; another one does not", () => {
    const stranger = statedBy("pg3");
    const at = { s: says("s", lists({ pg2: "b" })) };
    const misaddressed = settle({ nodes: [nodeAs("pg2 b settled", { report: stranger })], at });
    assert.equal(misaddressed.state.nodes[0]?.report, stranger);
    const omitted = settle({
      nodes: [nodeAs("pg2 x proved", { report: pg2, listedAtMs: 5 })],
      at: { s: says("s", lists({ pg1: "a" })) },
    });
    assert.deepEqual(
      [omitted.state.nodes[0]?.report, omitted.state.nodes[0]?.listedAtMs],
      [null, 5],
      "it is a stranger's that took the name",
    );
  });

  test("a new member is listed as of now", () => {
    assert.equal(settle({ at: toB }).state.nodes[0]?.listedAtMs, nowMs);
  });
});

suite("whether a listed address has ever proved itself for a member", () => {
  const list = { s: says("s", lists({ pg1: "a", pg2: "b" })) };
  const silent = down;
  const table: readonly (readonly [given: string, nodes: readonly Observation[], before: boolean, is: boolean])[] = [
    ["it has been before", [], true, true],
    ["there is no member", [], false, false],
    ["one is settled at its listed address", [nodeAs("pg2 b settled", { report: pg2 })], false, true],
    ["one is proved there", [nodeAs("pg9 b proved", { of: { member: "pg2" }, ...silent })], false, true],
    ["one has a configured address alone", [nodeAs("pg2 b seed", silent)], false, false],
    ["one is listed there, and has not proved itself", [nodeAs("pg2 b")], false, false],
    ["one is settled where no list has it", [nodeAs("pg2 x settled", silent)], false, false],
    ["one is configured there", [nodeAs("pg2 b settled", { of: { isFixed: true }, ...silent })], false, false],
    ["one has no address", [nodeAs("pg2 - settled", { of: { isFixed: true } })], false, false],
    ["one of two is settled there", [nodeAs("pg1 a"), nodeAs("pg2 b settled", { report: pg2 })], false, true],
  ];
  for (const [given, nodes, hasListedProof, is] of table)
    test(`${given}: ${is}`, () => {
      assert.equal(settle({ nodes, at: list, state: { hasListedProof } }).state.hasListedProof, is);
    });
});

suite("who led before", () => {
  const led = (incumbent: string) => {
    const { cluster } = clusterOf({});
    return { leadership: { ...cluster.leadership, incumbent } };
  };
  const moving = { nodes: [nodeAs("pg2 a settled", down), nodeAs("pg1 c settled")], at: toB };
  const table: readonly (readonly [given: string, input: Given, incumbent: string, after: string | null])[] = [
    ["a member that moves is forgotten: another server answers for it", moving, "pg2", null],
    ["a member that stays is not, while another one moves", moving, "pg1", "pg1"],
    ["nor is one that is not known any more", moving, "pg9", "pg9"],
    ["nor is one that has just proved itself", { nodes: [nodeAs("pg2 b")], at: toB }, "pg2", "pg2"],
  ];
  for (const [given, input, incumbent, after] of table)
    test(given, () => {
      const { state } = settle({ ...input, state: led(incumbent) });
      assert.equal(state.leadership.incumbent, after);
    });
});

suite("the views that servers gave", () => {
  const view = lists({ pg1: "a", pg2: "b" });
  test("are those of the members that are proved at their addresses", () => {
    const { state } = settle({
      nodes: [nodeAs("pg1 a"), nodeAs("pg2 b")],
      views: { pg1: view },
      at: { s: says("s", view), b: says("pg2", view) },
    });
    assert.deepEqual(describeAddresses(state), ["pg1 a none", "pg2 b settled"]);
    assert.deepEqual([...state.leaderViews.keys()], ["pg2"]);
  });

  test("follow a member's server when the member moves, and then belong to the address", () => {
    const old = lists({ pg2: "b", pg3: "a" });
    const { state } = settle({
      nodes: [nodeAs("pg2 a settled", { report: statedBy("pg3") }), nodeAs("pg3 c")],
      views: { pg2: old },
      at: { s: says("s", lists({ pg2: "b", pg3: "a" })), b: says("pg2", view) },
    });
    assert.deepEqual(describeAddresses(state), ["pg2 b settled", "pg3 a settled"]);
    assert.equal(state.leaderViews.get("pg2"), view);
    assert.equal(state.leaderViews.get("pg3"), old);
  });
});

suite("the position of the leader pg1, which has led at address a,", () => {
  const position = {
    system: own,
    timeline: 1,
    highest: 1_000,
    peak: { leader: "pg1", highest: 1_000, last: 1_000 },
    shared: [],
  };
  const foreign = (name: string, view: WitnessView | null = null): Contact => {
    const contact = says(name, view);
    return { ...contact, answer: { ...contact.answer!, report: statedBy(name, other) } };
  };
  const silent = { failuresInRow: 3, report: null };
  const listed = lists({ pg1: "b", pg2: "c" });
  const table: readonly (readonly [given: string, input: Given, isKept: boolean])[] = [
    [
      "is forgotten if the leader is found elsewhere, with another system",
      { nodes: [nodeAs("pg1 a settled", silent)], at: { s: says("s", listed), b: foreign("pg1") } },
      false,
    ],
    [
      "stays if the leader is found elsewhere with the same system",
      { nodes: [nodeAs("pg1 a settled", silent)], at: { s: says("s", listed), b: says("pg1") } },
      true,
    ],
    [
      "stays if the leader keeps its address, and another member with another system moves",
      {
        nodes: [nodeAs("pg1 a settled", { report: statedBy("pg1") }), nodeAs("pg2 d settled", silent)],
        at: { s: says("s", lists({ pg1: "a", pg2: "c" })), c: foreign("pg2") },
      },
      true,
    ],
    [
      "stays if the leader keeps its address, but its server has another system now, and another member moves",
      {
        nodes: [nodeAs("pg1 a settled", { report: statedBy("pg1", other) }), nodeAs("pg2 d settled", silent)],
        at: { s: says("s", lists({ pg1: "a", pg2: "c" })), c: says("pg2") },
      },
      true,
    ],
    [
      "stays if another server of another system answers as another member, while the leader moves",
      {
        nodes: [nodeAs("pg1 a settled", silent), nodeAs("pg2 c")],
        at: { s: says("s", listed), b: says("pg1"), c: foreign("pg2") },
      },
      true,
    ],
    [
      "stays if the leader moves to a server of the same system, and one of another system has its name, too",
      {
        nodes: [nodeAs("pg1 a settled", silent)],
        at: { s: says("s", listed), b: says("pg1"), x: foreign("pg1") },
      },
      true,
    ],
    [
      "is forgotten if the leader loses its address, and any server of its name has another system",
      {
        discover: ["s1", "s2", "s3"],
        nodes: [nodeAs("pg1 a proved", { report: statedBy("pg1") })],
        at: {
          s1: says("s1", lists({ pg2: "c" })),
          s2: says("s2", lists({ pg2: "c" })),
          x: foreign("pg1"),
          y: says("pg1"),
        },
      },
      false,
    ],
    [
      "stays if the leader loses its address, and no server of its name has another system",
      {
        discover: ["s1", "s2", "s3"],
        nodes: [nodeAs("pg1 a proved", { report: statedBy("pg1") })],
        at: {
          s1: says("s1", lists({ pg2: "c" })),
          s2: says("s2", lists({ pg2: "c" })),
          y: says("pg1"),
          z: foreign("pg3"),
        },
      },
      true,
    ],
    [
      "stays if the leader had no address of its own",
      { nodes: [nodeAs("pg1 a")], at: { s: says("s", listed), b: foreign("pg1") } },
      true,
    ],
    ["stays if the leader is not known", { at: { s: says("s", listed), b: foreign("pg1") } }, true],
  ];
  for (const [given, input, isKept] of table)
    test(given, () => {
      const { state, before } = settle({ ...input, state: { position } });
      assert.equal(state.position, isKept ? before.position : null);
    });
});

suite("what is kept of a server at an address that is no node's", () => {
  const recent = nowMs - 59_999;
  const seconds = { listedAtMs: recent };
  const table: readonly (readonly [given: string, contact: Contact, host: string, listedAtMs: number | null])[] = [
    ["it is configured", noContact, "s", -Infinity],
    ["a list has it", noContact, "l", nowMs],
    ["no list has it any more, since less than a minute", says("pg9", null, seconds), "x", recent],
    ["the same, since a minute", says("pg9", null, { listedAtMs: nowMs - 60_000 }), "x", null],
    ["the same, where it has not answered", { ...noContact, ...seconds }, "x", null],
    ["it is a node's now", says("pg3", null, seconds), "own", null],
  ];
  for (const [given, contact, host, listedAtMs] of table)
    test(`${given}: ${listedAtMs === null ? "nothing" : "all"}`, () => {
      const { state } = settle({
        nodes: [nodeAs("pg3 own settled", { report: statedBy("pg3") })],
        at: { s: says("s", lists({ pg1: "l" })), [host]: contact, ...(host === "s" ? { s: contact } : {}) },
      });
      const kept = state.contacts.get(urlOf(host));
      assert.deepEqual(kept === undefined ? null : kept.listedAtMs, listedAtMs);
    });

  test("nothing of the last one that leaves", () => {
    const contact = says("pg9", null, { listedAtMs: 0 });
    assert.deepEqual([...settle({ discover: [], at: { x: contact } }).state.contacts.keys()], []);
  });
});

suite("a dispute about addresses", () => {
  const two = { s: says("s", lists({ pg1: "a" })), b: says("pg2"), x: says("pg2") };
  const nodes = [nodeAs("pg2 a")];
  const disputeOf = (before: Readonly<Record<string, readonly string[]>>) => {
    const addressDisputes = new Map(
      Object.entries(before).map(([member, hosts]) => [member, hosts.map((host) => urlOf(host))]),
    );
    const { state } = settle({ nodes, at: two, state: { addressDisputes } });
    return { addressDisputes, after: state.addressDisputes };
  };
  const found = [["pg2", [urlOf("b"), urlOf("x")]]];
  for (const [given, before] of [
    ["begins", {}],
    ["is about other addresses now", { pg2: ["b", "y"] }],
    ["is about another member now", { pg3: ["b", "x"] }],
    ["about another member ends", { pg2: ["b", "x"], pg3: ["c", "d"] }],
  ] as const)
    test(given, () => {
      assert.deepEqual([...disputeOf(before).after], found);
    });

  test("that goes on is the same object, so that nobody announces it again", () => {
    const { addressDisputes, after } = disputeOf({ pg2: ["b", "x"] });
    assert.equal(after, addressDisputes);
  });

  test("ends", () => {
    const { state } = settle({
      nodes: [nodeAs("pg2 b settled", { report: pg2 })],
      at: { s: says("s", lists({ pg2: "b" })) },
      state: { addressDisputes: new Map([["pg2", [urlOf("b")]]]) },
    });
    assert.deepEqual([...state.addressDisputes], []);
  });

  test("does not exist about a configured address that answers as a member behind NAT", () => {
    assert.deepEqual([...settle({ nodes: [nodeAs("pg2 in2")], at: nat }).state.addressDisputes], []);
  });
});
