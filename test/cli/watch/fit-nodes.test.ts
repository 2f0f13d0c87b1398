import assert from "node:assert/strict";
import { test } from "node:test";
import { fitNodesAfter, nodeLines, type FitNode, type WatchedNode } from "../../../src/cli/watch/fit-nodes.ts";

function fit(node: string, database: string | null = `10.0.0.${node.slice(-1)}:5432`): WatchedNode {
  return { node, fit: true, reason: null, isKnown: true, database };
}

function unfit(node: string, reason: string, isKnown = true): WatchedNode {
  return { node, fit: false, reason, isKnown, database: null };
}

function at(node: string): FitNode {
  return { node, host: `10.0.0.${node.slice(-1)}`, port: 5432 };
}

const rows: readonly {
  readonly title: string;
  readonly route: "one" | "many";
  readonly before: readonly string[];
  readonly judged: readonly WatchedNode[];
  /** The lines of the nodes, or why nothing changes. */
  readonly expected: string | RegExp;
}[] = [
  {
    title: "the first primary",
    route: "one",
    before: [],
    judged: [fit("pg1"), unfit("pg2", "wrong_role")],
    expected: "pg1 10.0.0.1 5432",
  },
  {
    title: "another primary",
    route: "one",
    before: ["pg1"],
    judged: [unfit("pg1", "down"), fit("pg2")],
    expected: "pg2 10.0.0.2 5432",
  },
  {
    title: "another primary, and no evidence about the last one",
    route: "one",
    before: ["pg1"],
    judged: [unfit("pg1", "unknown"), fit("pg2")],
    expected: "pg2 10.0.0.2 5432",
  },
  {
    title: "no primary",
    route: "one",
    before: ["pg1"],
    judged: [unfit("pg1", "down"), unfit("pg2", "wrong_role")],
    expected: /no node/,
  },
  {
    title: "blind",
    route: "one",
    before: ["pg1"],
    judged: [unfit("pg1", "blind"), unfit("pg2", "blind")],
    expected: /no node/,
  },
  { title: "no node at all", route: "many", before: ["pg1"], judged: [], expected: /no node/ },
  {
    title: "two nodes for a route of one",
    route: "one",
    before: ["pg1"],
    judged: [fit("pg1"), fit("pg2")],
    expected: /2 nodes are fit: pg1, pg2/,
  },
  {
    title: "a new address of the same node",
    route: "one",
    before: ["pg1"],
    judged: [fit("pg1", "[::1]:5433")],
    expected: "pg1 ::1 5433",
  },
  {
    title: "an address that is not known",
    route: "one",
    before: ["pg1"],
    judged: [fit("pg2", null)],
    expected: /address of the database of pg2/,
  },
  {
    title: "an address with a blank",
    route: "one",
    before: ["pg1"],
    judged: [fit("pg2", "a b:1")],
    expected: /address/,
  },
  {
    title: "a name with a line break",
    route: "one",
    before: ["pg1"],
    judged: [fit("pg\n2", "10.0.0.2:1")],
    expected: /blanks/,
  },
  {
    title: "replicas in the order of their names",
    route: "many",
    before: [],
    judged: [fit("pg3"), fit("pg2")],
    expected: "pg2 10.0.0.2 5432\npg3 10.0.0.3 5432",
  },
  {
    title: "a replica that is unfit",
    route: "many",
    before: ["pg2", "pg3"],
    judged: [fit("pg2"), unfit("pg3", "lagging")],
    expected: "pg2 10.0.0.2 5432",
  },
  {
    title: "a replica without evidence, which stays",
    route: "many",
    before: ["pg2", "pg3"],
    judged: [fit("pg2"), unfit("pg3", "unknown")],
    expected: "pg2 10.0.0.2 5432\npg3 10.0.0.3 5432",
  },
  {
    title: "a replica without evidence that was not fit",
    route: "many",
    before: ["pg2"],
    judged: [fit("pg2"), unfit("pg3", "unknown")],
    expected: "pg2 10.0.0.2 5432",
  },
  {
    title: "a replica whose evidence is old because rolecall is late",
    route: "many",
    before: ["pg2", "pg3"],
    judged: [fit("pg2"), unfit("pg3", "stale", false)],
    expected: "pg2 10.0.0.2 5432\npg3 10.0.0.3 5432",
  },
  {
    title: "a primary whose evidence is old because rolecall is late, while another one stands",
    route: "one",
    before: ["pg2"],
    judged: [fit("pg3"), unfit("pg2", "stale", false)],
    expected: "pg3 10.0.0.3 5432",
  },
  {
    title: "a replica that is no member any more",
    route: "many",
    before: ["pg2", "pg3"],
    judged: [fit("pg2")],
    expected: "pg2 10.0.0.2 5432",
  },
];

for (const { title, route, before, judged, expected } of rows)
  test(`fit nodes of a route of ${route}: ${title}`, () => {
    const change = fitNodesAfter(before.map(at), judged, route === "one");
    if (typeof expected === "string") assert.equal("nodes" in change && nodeLines(change.nodes), expected);
    else assert.match("unchanged" in change ? change.unchanged : "it changed", expected);
  });
