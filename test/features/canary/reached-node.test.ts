/** Which node a server is that says its own address, and what system the nodes of a cluster have. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { reachedNode, systemOf } from "../../../src/features/canary/reached-node.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

/** A cluster whose nodes have their databases at these addresses, by their names; `null`: not known. */
function clusterAt(databases: Readonly<Record<string, string | null>>): Pick<ClusterState, "nodes"> {
  const { cluster } = new ClusterFixture({ nodes: Object.keys(databases) });
  return {
    nodes: cluster.nodes.map((one) => {
      const text = databases[one.node.name] ?? null;
      const at = text?.lastIndexOf(":") ?? 0;
      const database = text === null ? null : { host: text.slice(0, at), port: Number(text.slice(at + 1)) };
      return { ...one, node: { ...one.node, database } };
    }),
  };
}

const apart = { pg1: "10.0.0.1:5432", pg2: "10.0.0.2:5432" };
const beside = { pg1: "127.0.0.1:5432", pg2: "127.0.0.1:5433" };
const named: Readonly<Record<string, readonly string[]>> = {
  db1: ["10.0.0.1", "fd00::1"],
  db2: ["10.0.0.2"],
  here: ["127.0.0.1"],
};

const rows: readonly (readonly [
  what: string,
  databases: Readonly<Record<string, string | null>>,
  address: string | null,
  port: number | null,
  node: string | null,
])[] = [
  ["the address of one node", apart, "10.0.0.2", 5432, "pg2"],
  ["its address with another port", apart, "10.0.0.2", 5433, null],
  ["no address: a Unix socket", apart, null, null, null],
  ["an address that no node has", apart, "10.0.0.9", 5432, null],
  ["what is no address", apart, "pg2", 5432, null],
  ["the address of two nodes", { pg1: "10.0.0.1:5432", pg2: "10.0.0.1:5432" }, "10.0.0.1", 5432, null],
  ["a node by its name", { pg1: "db1:5432", pg2: "db2:5432" }, "10.0.0.2", 5432, "pg2"],
  ["a node by one of the addresses of its name", { pg1: "db1:5432", pg2: "db2:5432" }, "fd00::1", 5432, "pg1"],
  ["a name that is not resolved yet", { pg1: "db1:5432", pg2: "new:5432" }, "10.0.0.2", 5432, null],
  ["IPv6 in another form", { pg1: "fd00:0:0:0::1:5432" }, "fd00::1", 5432, "pg1"],
  ["a node whose database is not known", { pg1: null, pg2: "10.0.0.2:5432" }, "10.0.0.2", 5432, "pg2"],
  ["loopback, of nodes elsewhere", apart, "127.0.0.1", 5432, null],
  ["loopback, where all nodes are here", beside, "127.0.0.1", 5433, "pg2"],
  ["loopback, where one node is elsewhere", { ...beside, pg3: "10.0.0.3:5432" }, "127.0.0.1", 5433, null],
  ["loopback, where one node is not known", { ...beside, pg3: null }, "127.0.0.1", 5433, null],
  ["loopback, where a name is this machine", { pg1: "here:5432" }, "127.0.0.1", 5432, "pg1"],
  ["loopback of IPv6, of nodes elsewhere", apart, "::1", 5432, null],
];

suite("the node that a canary has reached", () => {
  for (const [what, databases, address, port, node] of rows)
    test(what, () => {
      const cluster = clusterAt(databases);
      assert.equal(
        reachedNode(cluster, { address, port }, (host) => named[host] ?? []),
        node,
      );
    });
});

suite("the system of a cluster", () => {
  /** A cluster whose nodes report these systems; `null`: none. */
  const systemOfThose = (...systems: readonly (string | null)[]): string | null => {
    const fixture = new ClusterFixture({ nodes: systems.map((_, at) => `pg${at + 1}`) });
    for (const [at, system] of systems.entries())
      if (system !== null) fixture.follow(`pg${at + 1}`, 0, { database_system_identifier: system });
    return systemOf(fixture.cluster);
  };

  test("is that of all nodes that report one", () => assert.equal(systemOfThose("7", null, "7"), "7"));
  test("is not known while no node reports one", () => assert.equal(systemOfThose(null, null), null));
  test("is not known where nodes report several", () => assert.equal(systemOfThose("7", "8"), null));
});
