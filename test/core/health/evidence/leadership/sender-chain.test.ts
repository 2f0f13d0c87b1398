import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { viewAt, type ClusterView } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import {
  freshLeader,
  isInSenderChain,
  isListedStreaming,
  isUnknownToLists,
  upstreamsOf,
  withNamed,
} from "../../../../../src/core/health/evidence/leadership/sender-chain.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { replicaPage } from "../../../../fake/exporter-page.ts";

type Row = string | { readonly name: string; readonly state?: string | null; readonly address?: string | null };

const nodes = [1, 2, 3, 4].map((number) => ({
  name: `pg${number}`,
  api: `http://pg${number}:8008`,
  member: `member-of-pg${number}`,
  database: number === 4 ? null : { host: `10.0.0.${number}`, port: 5432 },
}));

/** pg1 leads; each node lists standbys, in its report of an instant (0 if not given). */
function listing(
  lists: { readonly [node: string]: readonly Row[] },
  {
    atMs = {},
    nowMs = 0,
    leader = "pg1",
  }: { atMs?: Record<string, number>; nowMs?: number; leader?: string | null } = {},
): ClusterView {
  const watched = new ClusterFixture({ nodes });
  const names = nodes.map(({ name }) => name).toSorted((one, other) => (atMs[one] ?? 0) - (atMs[other] ?? 0));
  for (const name of names) {
    const replication = (lists[name] ?? []).map((row) => {
      const { name: standby, state = "streaming", address = null } = typeof row === "string" ? { name: row } : row;
      return { application_name: standby, client_addr: address, state };
    });
    const fields = { patroni: { version: "4.1.4", scope: "demo", name: `member-of-${name}` }, replication };
    if (name === leader) watched.lead(name, atMs[name] ?? 0, fields);
    else watched.follow(name, atMs[name] ?? 0, fields);
  }
  return viewAt(watched.cluster, watched.policy, nowMs);
}

suite("the chain of sender lists from the leader", () => {
  const rows: readonly (readonly [title: string, lists: { [node: string]: readonly Row[] }, listed: string])[] = [
    ["begins with the leader's own list", { pg1: ["pg2", "pg3"] }, "pg2 pg3"],
    ["goes on over replicas that send", { pg1: ["pg2"], pg2: ["pg3"], pg3: ["pg4"] }, "pg2 pg3 pg4"],
    ["does not begin elsewhere", { pg2: ["pg3"] }, ""],
    ["ends where two replicas list each other", { pg1: ["pg2"], pg2: ["pg3"], pg3: ["pg2"] }, "pg2 pg3"],
    ["has nodes by their member names too", { pg1: ["member-of-pg2"] }, "pg2"],
    ["leaves out unknown names", { pg1: ["archiver", "pg2"] }, "pg2"],
    ["leaves out a name from another node's address", { pg1: [{ name: "pg2", address: "10.0.0.3" }] }, ""],
    ["has a name from its own address", { pg1: [{ name: "pg2", address: "10.0.0.2" }] }, "pg2"],
    ["has a name from an address that is no node's", { pg1: [{ name: "pg2", address: "10.9.9.9" }] }, "pg2"],
    ["has a name whose node's address is unknown", { pg1: [{ name: "pg4", address: "10.0.0.3" }] }, "pg4"],
  ];
  for (const [title, lists, listed] of rows)
    test(title, () => {
      const view = listing(lists);
      const found = ["pg2", "pg3", "pg4"].filter((name) => isInSenderChain(view, name));
      assert.equal(found.join(" "), listed);
    });

  test("needs each list to be fresh", () => {
    const lists = { pg1: ["pg2"], pg2: ["pg3"] };
    for (const [old, listed] of [
      ["pg1", ""],
      ["pg2", "pg2"],
      ["pg3", "pg2 pg3"],
    ] as const) {
      const fresh = Object.fromEntries(nodes.map(({ name }) => [name, name === old ? 0 : 6_000]));
      const view = listing(lists, { atMs: fresh, nowMs: 6_000 });
      assert.equal(["pg2", "pg3"].filter((name) => isInSenderChain(view, name)).join(" "), listed, old);
    }
  });

  test("counts state catchup as listed, streaming alone as streaming, and other states not at all", () => {
    for (const [state, isListed, isStreaming] of [
      ["streaming", true, true],
      ["catchup", true, false],
      ["startup", false, false],
      [null, false, false],
    ] as const) {
      const view = listing({ pg1: [{ name: "pg2", state }] });
      assert.deepEqual(
        [isInSenderChain(view, "pg2"), isListedStreaming(view, "pg2")],
        [isListed, isStreaming],
        `${state}`,
      );
    }
  });

  test("has a name from an address that several nodes share", () => {
    const [host, other] = [
      { host: "127.0.0.1", port: 5432 },
      { host: "127.0.0.1", port: 5433 },
    ];
    const watched = new ClusterFixture({
      nodes: [
        { name: "pg1", api: "http://127.0.0.1:8001", database: host },
        { name: "pg2", api: "http://127.0.0.1:8002", database: other },
      ],
    });
    const replication = [{ application_name: "pg2", client_addr: "127.0.0.1", state: "streaming" }];
    watched.lead("pg1", 0, { replication });
    assert.equal(isInSenderChain(viewAt(watched.cluster, watched.policy, 0), "pg2"), true);
  });

  test("may reach every other node by a row that cannot be read, but shows none streaming", () => {
    const unreadable = { application_name: 7, state: "streaming" };
    const watched = new ClusterFixture({ nodes });
    const patroni = { version: "4.1.4", scope: "demo", name: "member-of-pg1" };
    watched.lead("pg1", 0, { patroni, replication: [unreadable] });
    const view = viewAt(watched.cluster, watched.policy, 0);
    assert.deepEqual(nodeNamed(watched.cluster, "pg1")?.report?.unreadable, ["senders"]);
    assert.equal(isInSenderChain(view, "pg2"), true);
    assert.equal(isListedStreaming(view, "pg2"), false);
    assert.equal(isInSenderChain(view, "pg1"), false, "the leader's own list does not lack the leader");
  });

  test("does not exist without a leader", () => {
    assert.equal(isInSenderChain(listing({ pg1: ["pg2"] }, { leader: null }), "pg2"), false);
  });
});

suite("who sends to whom", () => {
  const sendersIn = (view: ClusterView): string =>
    [...upstreamsOf(view)].map(([receiver, sender]) => `${sender}>${receiver}`).join(" ");

  test("is known by the lists of all nodes, with or without a leader", () => {
    for (const leader of ["pg1", null])
      assert.equal(
        sendersIn(listing({ pg1: ["pg2"], pg3: ["pg4", "pg3", "archiver"] }, { leader })),
        "pg1>pg2 pg3>pg4",
      );
  });

  test("has nodes that catch up, and none in another state", () => {
    const rows = [
      { name: "pg2", state: "catchup" },
      { name: "pg3", state: "startup" },
      { name: "pg4", state: null },
    ];
    assert.equal(sendersIn(listing({ pg1: rows })), "pg1>pg2");
  });

  test("has no list that is too old, and of two lists the last", () => {
    const lists = { pg1: ["pg3"], pg2: ["pg3", "pg4"] };
    assert.equal(sendersIn(listing(lists)), "pg2>pg3 pg2>pg4");
    assert.equal(sendersIn(listing(lists, { atMs: { pg1: 6_000 }, nowMs: 6_000 })), "pg1>pg3");
  });
});

test("a leader is fresh while its report is young enough and states a position", () => {
  assert.equal(freshLeader(listing({}))?.node.name, "pg1");
  assert.equal(freshLeader(listing({}, { nowMs: 5_499 }))?.node.name, "pg1");
  assert.equal(freshLeader(listing({}, { nowMs: 5_500 })), null);
  assert.equal(freshLeader(listing({}, { leader: null })), null);
  const watched = new ClusterFixture();
  watched.lead("pg1", 0, { xlog: null });
  assert.equal(freshLeader(viewAt(watched.cluster, watched.policy, 0)), null);
});

/** pg1 leads, and lists standbys at 0 s. db2 and db3 are known by their exporters alone. */
function withExporters(standbys: readonly Row[], isNamed = false): ClusterFixture {
  const watched = new ClusterFixture({
    nodes: [
      "pg1",
      { name: "db2", api: null, exporter: "http://db2:9630", database: { host: "10.0.0.2", port: 5432 } },
      { name: "db3", api: null, exporter: "http://db3:9630", database: { host: "10.0.0.3", port: 5432 } },
    ],
  });
  const { cluster } = watched;
  watched.cluster = { ...cluster, nodes: cluster.nodes.map((one) => ({ ...one, isNamed })) };
  const replication = standbys.map((row) => {
    const { name, state = "streaming", address = null } = typeof row === "string" ? { name: row } : row;
    return { application_name: name, client_addr: address, state };
  });
  watched.lead("pg1", 0, { replication });
  return watched;
}

function observedIn({ cluster }: ClusterFixture, name: string): Observation {
  const found = nodeNamed(cluster, name);
  assert.ok(found !== undefined);
  return found;
}

suite("the absence of a node without an API from all lists", () => {
  const rows: readonly {
    readonly given: string;
    readonly standbys?: readonly Row[];
    readonly isNamed?: boolean;
    readonly page?: { readonly received: number | null; readonly replayed: number | null };
    readonly nowMs?: number;
    readonly saysNothing: boolean;
  }[] = [
    { given: "says nothing while one has a row of nobody's", saysNothing: true },
    { given: "counts where none has", standbys: [], saysNothing: false },
    { given: "counts where the row is another node's", standbys: ["db3"], saysNothing: false },
    {
      given: "counts where the row does not stream",
      standbys: [{ name: "walreceiver", state: "startup" }],
      saysNothing: false,
    },
    { given: "counts once a list has named it", isNamed: true, saysNothing: false },
    {
      given: "says nothing while its page has no position",
      page: { received: null, replayed: null },
      saysNothing: true,
    },
    { given: "counts where its page has both positions", page: { received: 1, replayed: 1 }, saysNothing: false },
    { given: "counts where its page has what it received", page: { received: 1, replayed: null }, saysNothing: false },
    { given: "counts where its page has what it replayed", page: { received: null, replayed: 1 }, saysNothing: false },
    { given: "says nothing while that list is just fresh", nowMs: 5_499, saysNothing: true },
    { given: "counts where that list is too old", nowMs: 5_500, saysNothing: false },
  ];
  for (const { given, standbys = ["walreceiver"], isNamed = false, page, nowMs = 0, saysNothing } of rows)
    test(given, () => {
      const watched = withExporters(standbys, isNamed);
      if (page !== undefined) {
        const result = { endpoint: "metrics", page: { ...replicaPage, ...page } } as const;
        watched.record({ kind: "exporter", cluster: "demo", node: "db2", sentAtMs: 0, sentAtWallMs: 0, result }, 0);
      }
      const view = viewAt(watched.cluster, watched.policy, nowMs);
      assert.equal(isUnknownToLists(view, observedIn(watched, "db2")), saysNothing);
    });

  test("counts for a node with an API", () => {
    const watched = withExporters(["walreceiver"]);
    const view = viewAt(watched.cluster, watched.policy, 0);
    assert.equal(isUnknownToLists(view, observedIn(watched, "pg1")), false);
  });
});

suite("a sender list names", () => {
  const rows: readonly (readonly [given: string, standbys: readonly Row[], named: string])[] = [
    ["nobody", [], ""],
    ["nobody that is known", ["walreceiver"], ""],
    ["a node without an API by its name", ["db2"], "db2"],
    ["one by its address", [{ name: "walreceiver", address: "10.0.0.3" }], "db3"],
    ["both", ["db3", "db2"], "db2 db3"],
    ["no node with an API, which needs no note", ["pg1"], ""],
  ];
  for (const [given, standbys, named] of rows)
    test(given, () => {
      const watched = withExporters(standbys);
      const unnamed = watched.cluster.nodes.map((one) => ({ ...one, isNamed: false }));
      const after = withNamed(unnamed, observedIn(watched, "pg1"));
      const found = after.flatMap(({ node, isNamed }) => (isNamed ? [node.name] : []));
      assert.equal(found.join(" "), named);
      if (named === "") assert.equal(after, unnamed, "the same array");
      assert.equal(withNamed(after, observedIn(watched, "pg1")), after, "once is enough");
    });

  test("a node of a cluster whose nodes are all known by their exporters alone", () => {
    const watched = withExporters(["db2"]);
    const unnamed = watched.cluster.nodes.map((one) => ({ ...one, node: { ...one.node, api: null }, isNamed: false }));
    const after = withNamed(unnamed, observedIn(watched, "pg1"));
    assert.deepEqual(
      after.map(({ isNamed }) => isNamed),
      [false, true, false],
    );
  });
});
