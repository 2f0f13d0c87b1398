/** Which node a row of a sender list is of. Rows are `name address`; an address of `socket` is none. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Sender } from "../../../../../src/core/cluster/documents/report.ts";
import { isNamedBy, nodeAtAddress, nodeOfSender } from "../../../../../src/core/health/evidence/node/sender-rows.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

function databaseAt(host: string) {
  return { host, port: 5432 };
}

const { cluster } = new ClusterFixture({
  nodes: [
    { name: "pg1", api: "http://pg1:8008", database: databaseAt("10.0.0.1") },
    { name: "pg2", api: "http://pg2:8008", member: "db2" },
    { name: "pg3", api: null, exporter: "http://pg3:9187", database: databaseAt("10.0.0.3") },
    { name: "twin1", api: null, exporter: "http://twin1:9187", database: databaseAt("10.0.0.4") },
    { name: "twin2", api: null, exporter: "http://twin2:9187", database: databaseAt("10.0.0.4") },
    { name: "pg5", api: null, exporter: "http://pg5:9187" },
  ],
});

function senderOf(row: string): Sender {
  const [name = "", address = ""] = row.split(" ");
  return { name, address: address === "socket" ? null : address, state: "streaming" };
}

suite("a row has the node's", () => {
  const node = { name: "pg2", member: "db2" };
  for (const [row, isNamed] of [
    ["db2", true],
    ["pg2", true],
    ["pg1", false],
  ] as const)
    test(`name or member name: ${row}, ${isNamed}`, () => {
      assert.equal(isNamedBy(node, row), isNamed);
    });
});

suite("the node whose database alone has the address of a row without a node's name", () => {
  for (const [given, row, at] of [
    ["one node's address", "walreceiver 10.0.0.3", "pg3"],
    ["that of a node with an API", "walreceiver 10.0.0.1", "pg1"],
    ["nobody's address", "walreceiver 10.0.0.9", undefined],
    ["the address of two nodes", "walreceiver 10.0.0.4", undefined],
    ["no address, as nodes without a database have none", "walreceiver socket", undefined],
    ["one node's address, and the name of another one", "pg5 10.0.0.3", undefined],
  ] as const)
    test(given, () => {
      assert.equal(nodeAtAddress(cluster, senderOf(row))?.name, at);
    });
});

suite("the node of a row", () => {
  for (const [given, row, of] of [
    ["its name and address", "pg1 10.0.0.1", "pg1"],
    ["its name, and an address that no node has", "pg1 10.0.0.9", "pg1"],
    ["its name, and no address", "pg1 socket", "pg1"],
    ["its name, and another node's address", "pg1 10.0.0.3", undefined],
    ["the name of a node without a known address, and another node's address", "db2 10.0.0.3", "pg2"],
    ["another name at the address of a node that is known by its exporter alone", "walreceiver 10.0.0.3", "pg3"],
    ["another name at the address of a node with an API, which has its name set", "walreceiver 10.0.0.1", undefined],
    ["another name at nobody's address", "walreceiver 10.0.0.9", undefined],
    ["another name at the address of two nodes", "walreceiver 10.0.0.4", undefined],
    ["another name, and no address", "walreceiver socket", undefined],
  ] as const)
    test(given, () => {
      assert.equal(nodeOfSender(cluster, senderOf(row))?.name, of);
    });
});
