/** What a document of a server counts for that is no proved node, and of one that is (rule 10). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noContact, type Contact } from "../../../../src/core/cluster/contact.ts";
import { parseClusterDocument } from "../../../../src/core/cluster/documents/cluster-document.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { applyDocument } from "../../../../src/core/health/observe/apply-document.ts";
import { clusterOf, nodeAs, nowMs, says, statedBy, urlOf, type Given } from "./unsettled-cluster.ts";

/** The state after the list of a source: an address, or a node's name. It has pg1 at a. */
function listedBy(source: string, input: Given, scope: string | null): { before: ClusterState; after: ClusterState } {
  const value = { ...(scope === null ? {} : { scope }), members: [{ name: "pg1", api_url: "http://a:8008/patroni" }] };
  const { cluster: before, context } = clusterOf(input);
  const served = { status: 200, body: JSON.stringify(value), source, sentAtMs: nowMs };
  const answer = { name: "cluster" as const, served, cluster: parseClusterDocument(value)! };
  return { before, after: applyDocument(before, answer, context) };
}

const asked: Contact = { ...noContact, wasAsked: true };
const isStarting = { hasAskedAll: false };

suite("the list of a server that is no proved node's adds its members,", () => {
  const ofOther = says("s", null);
  const foreign: Contact = {
    ...ofOther,
    answer: { ...ofOther.answer!, report: { ...statedBy("s"), scope: "other" } },
  };
  const table: readonly (readonly [given: string, host: string, input: Given, adds: boolean])[] = [
    ["if its address is configured", "s", { at: { s: asked } }, true],
    ["if it states the scope of the cluster", "s", { at: { s: says("s") } }, true],
    ["not if its address is not configured", "x", { at: { s: asked, x: asked } }, false],
    ["not before all addresses were asked", "s", { discover: ["s", "t"], at: { s: asked }, state: isStarting }, false],
    ["not if it states another scope", "s", { at: { s: foreign } }, false],
  ];
  for (const [given, host, input, adds] of table)
    test(given, () => {
      const { after } = listedBy(urlOf(host), { discover: ["s", "t"], ...input }, null);
      assert.deepEqual(
        after.nodes.map(({ node }) => node.name),
        adds ? ["pg1"] : [],
      );
    });

  test("not if it is a node that is not known any more: it is not served either", () => {
    const { before, after } = listedBy("pg9", { at: { s: asked } }, null);
    assert.deepEqual(after.nodes, []);
    assert.equal(after.documents, before.documents);
  });
});

suite("the scope of a cluster is", () => {
  const proved: Given = { nodes: [nodeAs("pg1 a settled", { report: statedBy("pg1") })] };
  const server: Given = { at: { s: asked } };
  for (const [given, source, input, known, stated, scope] of [
    ["that of the first list of a node", "pg1", proved, null, "demo", "demo"],
    ["that of the first list of a configured address", urlOf("s"), server, null, "demo", "demo"],
    ["still the same after a list of a node without one", "pg1", proved, "demo", null, "demo"],
    ["still the same after a list of an address without one", urlOf("s"), server, "demo", null, "demo"],
    ["unknown if neither is", "pg1", proved, null, null, null],
    ["the same after a list of another one", "pg1", proved, "demo", "other", "demo"],
  ] as const)
    test(given, () => {
      assert.equal(listedBy(source, { ...input, state: { scope: known } }, stated).after.scope, scope);
    });
});
