import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { StatusCluster } from "../../../../src/core/command/client/cluster-status.ts";
import { compareServers, uncomparedText } from "../../../../src/features/haproxy/cli/check-servers.ts";
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

/** All members on one host, told apart by their ports. */
const local = statusCluster("local", {
  timeline: 1,
  nodes: [1, 2, 3].map((at) =>
    statusNode(`pg${at}`, { api: `http://127.0.0.1:${8000 + at}`, database: `127.0.0.1:${15430 + at}` }),
  ),
});

/** Members by IPv6 addresses and by a name. */
const named = statusCluster("named", {
  timeline: 1,
  nodes: [
    statusNode("pg1", { api: "http://[fd00::1]:8008", database: "[fd00::1]:5432" }),
    statusNode("pg2", { api: "http://[fd00::2]:8008", database: "[fd00::2]:5432" }),
    statusNode("pg3", { api: "http://db3.example:8008", database: "db3.example:5432" }),
  ],
});

/** Servers pg1, pg2 and pg3 at these addresses. */
function serversAt(...addresses: readonly string[]): string {
  return addresses.map((address, at) => `server pg${at + 1} ${address}\n`).join("");
}

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
    [
      "RC128 shop/pg3 is in no backend",
      "RC130 s/pg2 is at 10.0.0.2:5432, which is the address of orders/pg2; shop/pg2 is at 10.1.0.2:5432",
    ],
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

/** Servers at addresses of other members, and those that only look like it: the servers that were not compared, too. */
const swapped: readonly (readonly [title: string, file: string, findings: readonly string[], not: string])[] = [
  ["all members on one host", serversAt("127.0.0.1:15431", "127.0.0.1:15432", "127.0.0.1:15433"), [], ""],
  [
    "each member's port off by one",
    serversAt("127.0.0.1:15432", "127.0.0.1:15433", "127.0.0.1:15434"),
    [
      "RC130 w/pg1 is at 127.0.0.1:15432, which is the address of local/pg2; local/pg1 is at 127.0.0.1:15431",
      "RC130 w/pg2 is at 127.0.0.1:15433, which is the address of local/pg3; local/pg2 is at 127.0.0.1:15432",
    ],
    "the port of 1 server",
  ],
  [
    "the same with send-state",
    `${state}${serversAt("127.0.0.1:15432", "127.0.0.1:15432", "127.0.0.1:15433")}`,
    ["RC130 w/pg1 is at 127.0.0.1:15432, which is the address of local/pg2; local/pg1 is at 127.0.0.1:15431"],
    "",
  ],
  [
    "poolers on one host",
    serversAt("127.0.0.1:6431", "127.0.0.1:6432", "127.0.0.1:6433"),
    [],
    "the ports of 3 servers",
  ],
  [
    "servers at the API of another member",
    serversAt("127.0.0.1:8001", "127.0.0.1:8003", "127.0.0.1:8003"),
    ["RC130 w/pg2 is at 127.0.0.1:8003, which is the address of local/pg3; local/pg2 is at 127.0.0.1:15432"],
    "",
  ],
  [
    "two members swapped, on hosts of their own",
    serversAt("10.0.0.2:5432", "10.0.0.1:5432", "10.0.0.3:5432"),
    [
      "RC130 w/pg1 is at 10.0.0.2:5432, which is the address of orders/pg2; orders/pg1 is at 10.0.0.1:5432",
      "RC130 w/pg2 is at 10.0.0.1:5432, which is the address of orders/pg1; orders/pg2 is at 10.0.0.2:5432",
    ],
    "",
  ],
  ["poolers on each host", serversAt("10.0.0.1:6432", "10.0.0.2:6432", "10.0.0.3:6432"), [], "the ports of 3 servers"],
  ["IPv6 in other spellings, and a name", serversAt("[FD00:0::1]:5432", "fd00::2:5432", "DB3.example:5432"), [], ""],
  [
    "IPv6 and names swapped",
    serversAt("db3.example.:5432", "[fd00:0:0::1]:5432", "[fd00::2]:5432"),
    [
      "RC130 w/pg1 is at db3.example.:5432, which is the address of named/pg3; named/pg1 is at [fd00::1]:5432",
      "RC130 w/pg2 is at [fd00:0:0::1]:5432, which is the address of named/pg1; named/pg2 is at [fd00::2]:5432",
      "RC130 w/pg3 is at [fd00::2]:5432, which is the address of named/pg2; named/pg3 is at db3.example:5432",
    ],
    "",
  ],
  [
    "a name for an address, which may be any",
    serversAt("db1.example:5432", "10.0.0.2:5432", "10.0.0.3"),
    [],
    "the port of 1 server and the address of 1",
  ],
  ["what a variable holds", serversAt('"${PG1}"', "10.0.0.2:5432", '"${PG3}"'), [], "the addresses of 2 servers"],
];

for (const [title, file, expected, not] of swapped)
  test(`haproxy.cfg with ${title}: no server may have the address of another member`, () => {
    const clusters = [orders, local, named].filter(({ cluster }) =>
      cluster === "orders"
        ? file.includes("10.0.0")
        : cluster === "local"
          ? file.includes("127.0.0.1")
          : /fd00/i.test(file),
    );
    const { findings, uncompared } = compareServers(`backend w\n${file}`, clusters);
    assert.deepEqual(
      findings.map(({ rule, message }) => `${rule} ${message}`),
      expected,
    );
    assert.equal(uncomparedText(uncompared), not === "" ? "" : `; not compared: ${not}`);
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

test("doctor --haproxy-config: a server that leads to another member's database is an error", async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const folder = temporaryFolder("haproxy-swapped");
  const [config, cfg] = [join(folder, "rolecall.yaml"), join(folder, "haproxy.cfg")];
  const rows = nodes.map(({ name, api }, at) => ({ name, api, database: `127.0.0.1:${15_431 + at}` }));
  writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", nodes: rows }], listen: [{ port: 0 }] }));
  const backend = serversAt("127.0.0.1:15432", "127.0.0.1:15433", "127.0.0.1:15434");
  writeFileSync(cfg, `backend w\n${backend}backend r\n${backend}`);
  const argv = ["doctor", "--config", config, "--haproxy", "/no/such/haproxy", "--haproxy-config", cfg];
  const { exit_code: code, diagnostics, coverage } = await runJson(argv);
  assert.equal(code, 1);
  assert.deepEqual(
    diagnostics.map(({ rule_id: rule, severity, location }) => [rule, severity, location?.line]),
    [2, 3, 6, 7].map((line) => ["RC130", "error", line]),
  );
  const detail = coverage.find(({ id }) => id === "haproxy_config")?.detail;
  assert.equal(detail, `2 backends with members in ${cfg}; not compared: the ports of 2 servers`);
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
