import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { StatusCluster } from "../../../../src/core/command/client/cluster-status.ts";
import { compareServers } from "../../../../src/features/haproxy/cli/check-servers.ts";
import { runJson, runText } from "../../../fake/command-line.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { statusCluster, statusNode } from "../../../fake/status-clusters.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

function clusterOf(cluster: string, net: string): StatusCluster {
  const nodes = [1, 2, 3].map((at) =>
    statusNode(`pg${at}`, { api: `http://${net}.${at}:8008`, database: `${net}.${at}:5432` }),
  );
  return statusCluster(cluster, { timeline: 1, nodes });
}

const orders = clusterOf("orders", "10.0.0");
const shop = clusterOf("shop", "10.1.0");
const all = "server pg1 10.0.0.1:5432\nserver pg2 10.0.0.2:5432\nserver pg3 10.0.0.3:5432\n";
const state = "http-check send-state\n";

/** Each file with the findings: the rule, and what its message says. */
const files: readonly (readonly [title: string, file: string, findings: readonly string[]])[] = [
  ["all members, as rendered", `backend w\n${state}${all}backend r\n${state}${all}`, []],
  ["a member in one backend only", `backend w\n${all}backend r\nserver pg1 10.0.0.1:5432`, []],
  [
    "a member in none",
    "backend w\nserver pg1 10.0.0.1:5432\nserver pg2 10.0.0.2:5432",
    ["RC128 orders/pg3 is in no backend"],
  ],
  ["a server that is no member", `backend w\n${all}server pg9 10.0.0.9:5432`, ["RC129 w/pg9 is no member of orders"]],
  [
    "a member under another name",
    "listen w\nserver db1 10.0.0.1:5432\nserver pg2 10.0.0.2:5432\nserver pg3 10.0.0.3:5432",
    ["RC129 w/db1 is no member of orders; its address is that of pg1"],
  ],
  [
    "another host",
    `backend w\n${all.replace("10.0.0.2", "10.0.0.99")}`,
    ["RC130 w/pg2 is at 10.0.0.99:5432, but orders/pg2 is at 10.0.0.2:5432"],
  ],
  [
    "another port, which the checks state",
    `backend w\n${state}${all.replaceAll("5432", "6432")}`,
    [1, 2, 3].map((at) => `RC130 w/pg${at} is at 10.0.0.${at}:6432, but orders/pg${at} is at 10.0.0.${at}:5432`),
  ],
  [
    "the same, stated by the defaults",
    `defaults\n${state}backend w\n${all.replace("1:5432", "1:6432")}`,
    ["RC130 w/pg1 is at 10.0.0.1:6432, but orders/pg1 is at 10.0.0.1:5432"],
  ],
  ["another port, such as that of a pooler, which no check states", `backend w\n${all.replaceAll("5432", "6432")}`, []],
  [
    "a name for an address, and an address that a variable holds",
    `backend w\nserver pg1 db1.example:5432\nserver pg2 "\${PG2}"\nserver pg3 10.0.0.3`,
    [],
  ],
  ["servers at the APIs", `backend w\n${all}backend w_api\n${all.replaceAll("5432", "8008")}`, []],
  ["a template", "backend w\nserver-template pg 1-3 orders.example:5432", []],
  [
    "a template that is too short and too long",
    "backend w\nserver-template pg 2 orders.example:5432\nserver-template pg 9-9 x:1",
    ["RC128 orders/pg3 is in no backend", "RC129 w/pg9 is no member of orders"],
  ],
  ["backends of something else", `backend web\nserver web1 10.0.0.1:80\nbackend w\n${all}`, []],
  ["comments, quotes and spaces", `backend w # pg\n  server "pg1" 10.0.0.1:5432 check\n${all.slice(25)}`, []],
  [
    "nothing of any cluster",
    "frontend f\nbind :80\n",
    ["RC128 orders: no backend has a server of the cluster", "RC128 shop: no backend has a server of the cluster"],
  ],
  [
    "two clusters with the same names, told apart by the check",
    `backend w\n${all}backend s\nhttp-check send meth GET uri-lf /clusters/shop/nodes/%[srv_name]/primary\nserver pg1 10.1.0.1:5432\nserver pg2 10.0.0.2:5432`,
    ["RC128 shop/pg3 is in no backend", "RC130 s/pg2 is at 10.0.0.2:5432, but shop/pg2 is at 10.1.0.2:5432"],
  ],
  [
    "two clusters with the same names, told apart by the addresses",
    `backend w\n${all}backend s\n${all.replaceAll("10.0.0", "10.1.0")}`,
    [],
  ],
];

for (const [title, file, expected] of files)
  test(`haproxy.cfg with ${title}`, () => {
    const { findings } = compareServers(file, [orders, shop]);
    assert.deepEqual(
      findings.map(({ rule, message }) => `${rule} ${message}`),
      expected,
    );
  });

test("doctor --haproxy-config compares the file with the members, and names the line", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const folder = temporaryFolder("haproxy-config");
  const [config, cfg] = [join(folder, "rolecall.yaml"), join(folder, "haproxy.cfg")];
  const rows = nodes.map(({ name, api }, at) => ({ name, api, database: `10.0.0.${at + 1}:5432` }));
  writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", nodes: rows }], listen: [{ port: 0 }] }));
  writeFileSync(cfg, "backend w\n  server pg1 10.0.0.1:5432\n  server pg9 10.0.0.9:5432\n");
  const argv = ["doctor", "--config", config, "--haproxy", "/no/such/haproxy"];
  const { diagnostics, coverage } = await runJson([...argv, "--haproxy-config", cfg]);
  assert.deepEqual(
    diagnostics.map(({ rule_id: rule, message, location }) => [rule, message, location?.line]),
    [
      ["RC128", "demo/pg2 is in no backend", undefined],
      ["RC129", "w/pg9 is no member of demo", 3],
    ],
  );
  assert.equal(coverage.find(({ id }) => id === "haproxy_config")?.status, "complete");
  assert.deepEqual((await runJson(argv)).diagnostics, []);
});

for (const [title, file] of [
  ["missing", "/no/such/haproxy.cfg"],
  ["a directory", temporaryFolder("directory")],
] as const)
  test(`doctor refuses a --haproxy-config that is ${title}`, async () => {
    const folder = temporaryFolder("no-config");
    const config = join(folder, "rolecall.yaml");
    writeFileSync(
      config,
      JSON.stringify({ clusters: [{ name: "demo", nodes: [{ name: "pg1", api: "http://127.0.0.1:1" }] }] }),
    );
    const { code, out, err } = await runText([
      "doctor",
      "--config",
      config,
      "--haproxy",
      "/no",
      "--haproxy-config",
      file,
    ]);
    assert.equal(code, 2);
    assert.match(`${out}${err}`, /RC006 {2}Cannot read --haproxy-config/);
  });
