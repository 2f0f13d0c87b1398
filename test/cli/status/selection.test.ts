import assert from "node:assert/strict";
import { test } from "node:test";
import { selectClusters, type StatusSelection } from "../../../src/cli/status/selection/selection.ts";
import { summarizeStatus, summaryLine } from "../../../src/cli/status/selection/summary-line.ts";
import { mixedClusters, statusCluster, statusNode } from "../../fake/status-clusters.ts";

const all: StatusSelection = { order: "problem", problemsOnly: false, query: "" };

/** The names of the selected clusters, each with its nodes. */
function names(selection: Partial<StatusSelection>, clusters = mixedClusters): readonly string[] {
  return selectClusters(clusters, { ...all, ...selection }).map(
    ({ cluster, nodes }) => `${cluster.cluster}: ${nodes.map(({ node }) => node).join(" ")}`,
  );
}

test("the worst cluster is first; in a cluster the leader, then the worst node, then names by number", () => {
  assert.deepEqual(names({}), [
    "delivery: pg1 pg2",
    "forum: pg1",
    "guides: ",
    "catalog: pg1 pg3 pg2",
    "billing: pg1 pg2",
    "events: pg1 pg2 pg9 pg10",
    "accounts: pg1 pg2",
  ]);
});

test("problems only keep the nodes that are not well, and all nodes of a cluster that is down as a whole", () => {
  assert.deepEqual(names({ problemsOnly: true }), [
    "delivery: pg1 pg2",
    "forum: pg1",
    "guides: ",
    "catalog: pg3",
    "billing: pg2",
  ]);
});

test("a search finds clusters and nodes in either case", () => {
  assert.deepEqual(names({ query: "CAT" }), ["catalog: pg1 pg3 pg2"]);
  assert.deepEqual(names({ query: "pg3" }), ["catalog: pg3"]);
  assert.deepEqual(names({ query: "none of them" }), []);
});

test("the highest lag and the oldest evidence are first, unknown ones before all", () => {
  const cluster = (name: string, lag: number | null, age: number | null): ReturnType<typeof statusCluster> =>
    statusCluster(name, { nodes: [statusNode("pg1", { lag_bytes: lag, age_ms: age })] });
  const clusters = [cluster("b", 5, 9), cluster("a", 5, null), cluster("c", null, 10), cluster("d", 9, 1)];
  const order = (key: StatusSelection["order"]): string =>
    names({ order: key }, clusters)
      .map((name) => name[0])
      .join("");
  assert.equal(order("lag"), "cdab");
  assert.equal(order("age"), "acbd");
  assert.equal(order("name"), "abcd");
});

test("the summary counts conditions and fit nodes, and gives the age of the oldest evidence of a fit node", () => {
  assert.equal(
    summaryLine(summarizeStatus(mixedClusters)),
    "7 clusters: 1 ok, 1 with drained nodes, 1 with warnings, 1 degraded, 1 without nodes, 1 blind, " +
      "1 without a primary; 10 of 14 nodes fit, on evidence up to 0.4 s old",
  );
  assert.equal(summaryLine(summarizeStatus([])), "no clusters");
});
