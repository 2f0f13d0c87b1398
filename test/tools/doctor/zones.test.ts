import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

test("RC169: reports each zone that a check prefers and that no node is in", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const file = join(temporaryFolder("zones"), "rolecall.yaml");
  const zones = ["a", "b", undefined];
  const configuration = {
    clusters: [{ name: "demo", nodes: nodes.map(({ name, api }, at) => ({ name, api, zone: zones[at] })) }],
    listen: [
      { port: 0, defaults: { zone: "a" } },
      { port: 18_109, dialect: "agent", check: "/replica?zone=e" },
      { port: 18_110, dialect: "agent", pool: "reads" },
    ],
    pools: [
      { name: "reads", check: "/replica", zones: ["a", "c"] },
      { name: "all", check: "/replica" },
      { name: "near", check: "/replica?zone=b" },
    ],
    balancers: [
      {
        name: "lb",
        haproxy: {
          socket: "/no/such/socket",
          zone: "d",
          backends: [
            { name: "w", check: "/primary" },
            { name: "r", pool: "reads" },
            { name: "x", pool: "all" },
          ],
        },
      },
    ],
  };
  writeFileSync(file, JSON.stringify(configuration));
  const { diagnostics, coverage } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  assert.deepEqual(
    diagnostics.filter(({ rule_id: rule }) => rule === "RC169").map(({ message }) => message),
    [
      "pool reads prefers zone c of cluster demo: its nodes are in a, b",
      "balancer lb/x prefers zone d of cluster demo: its nodes are in a, b",
      "listener 127.0.0.1:18109 prefers zone e of cluster demo: its nodes are in a, b",
    ],
  );
  assert.equal(coverage.find(({ id }) => id === "zones")?.detail, "5 checks with zones");
});
