import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runJson } from "../../fake/command-line.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { statusNode } from "../../fake/status-clusters.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

test("doctor reports what the running rolecall knows of the checks of balancers", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const rows = nodes.map(({ name, api }, at) => ({
    ...statusNode(name, { api }),
    asked_ms_ago: at === 0 ? 300 : null,
    unasked: at === 1,
  }));
  const clusters = [
    { cluster: "demo", nodes: rows, asked_non_members: [{ node: "pg9", asked_ms_ago: 400 }] },
    { cluster: "other", nodes: [{ ...statusNode("x"), unasked: true }] },
  ];
  const server = await serveCannedAnswers({ "/status": { body: { clusters } } });
  context.after(() => server.close());
  const config = join(temporaryFolder("asked"), "rolecall.yaml");
  const listen = [{ port: Number(new URL(server.url).port), dialect: "admin" }];
  const configured = nodes.map(({ name, api }, at) => ({ name, api, database: `10.0.0.${at + 1}:5432` }));
  writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", nodes: configured }], listen }));
  const { diagnostics, coverage } = await runJson(["doctor", "--config", config, "--haproxy", "/no/such/haproxy"]);
  assert.deepEqual(
    diagnostics.filter(({ rule_id: rule }) => rule !== "RC107").map(({ rule_id: rule, message }) => [rule, message]),
    [
      ["RC131", `no balancer asks ${server.url} for demo/pg2, although they ask for other members`],
      ["RC132", "balancers ask for demo/pg9, which is no member (last 0.4 s ago)"],
    ],
  );
  assert.equal(coverage.find(({ id }) => id === "asked")?.detail, `1 member asked for at ${server.url}`);
});
