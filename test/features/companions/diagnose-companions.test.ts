import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { FakeCompanion } from "../../fake/fake-companion.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

test("RC170, RC171: reports companions that no check asks for, and those that answer nowhere", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const pooler = await FakeCompanion.start(context, "pgbouncer");
  const closed = await freePort();
  const file = join(temporaryFolder("companions"), "rolecall.yaml");
  const configuration = {
    clusters: [
      {
        name: "demo",
        nodes: nodes.map(({ name, api }) => ({ name, api })),
        companions: [
          { name: "pooled", port: pooler.port, kind: "pgbouncer" },
          { name: "listed", port: pooler.port },
          { name: "agent", port: pooler.port },
          { name: "default", port: pooler.port },
          { name: "forgotten", port: pooler.port },
          { name: "closed", port: closed },
        ],
      },
    ],
    pools: [
      { name: "reads", check: "/replica?with=pooled", min: 1 },
      { name: "writes", check: "/primary", with: ["listed", "closed"] },
    ],
    listen: [
      { port: 0, defaults: { with: "default" } },
      { port: 18_111, dialect: "agent", check: "/replica?with=agent" },
    ],
  };
  writeFileSync(file, JSON.stringify(configuration));
  const { diagnostics, coverage } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  assert.deepEqual(
    diagnostics.filter(({ rule_id: rule }) => rule === "RC170" || rule === "RC171").map(({ message }) => message),
    [
      "no check asks for companion forgotten of cluster demo",
      "companion closed of cluster demo answers beside none of 2 nodes: connection refused",
    ],
  );
  assert.equal(coverage.find(({ id }) => id === "companions")?.detail, "6 companions");
});
