import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { App } from "../../../src/app/app.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import type { ComparisonData } from "../../../src/tools/compare/report.ts";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";
import { runJson, runText } from "../../fake/command-line.ts";
import { selfSignedCertificate } from "../../fake/certificates.ts";
import { statusDocument } from "../../fake/node-documents.ts";
import { FakeNode, openFakeCluster } from "../../fake/fake-node.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { until } from "../../fake/until.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const folder = temporaryFolder("probing");
const config = join(folder, "rolecall.yaml");
let simulator: Simulator;
let app: App;
let url: string;

before(async () => {
  simulator = await startSimulator({ nodes: 3, port: 0, walBytesPerSecond: 1_000 });
  const seeds = simulator.nodes.map((node) => `"${node.url}"`).join(", ");
  writeFileSync(
    config,
    `clusters:\n  - { name: demo, discover: [${seeds}] }\n` +
      "listen:\n  - { port: 0 }\n  - { port: 0, dialect: admin, address: 127.0.0.2 }\n" +
      "probe: { interval: 200ms }\nlog: { level: silent }\n",
  );
  const loaded = loadConfig({ file: config, env: {}, flags: {} });
  assert.ok(loaded.ok);
  app = new App(loaded.config, silentLogger);
  await app.start();
  url = `http://127.0.0.1:${app.listeners.find((listener) => listener.config.dialect === "node")?.port ?? 0}`;
});

after(async () => {
  await app.stop({ drains: false });
  await simulator.stop();
});

test("status, check and explain give by one probing of their own what the running rolecall gives", async () => {
  const admin = `http://127.0.0.2:${app.listeners.find((openListener) => openListener.config.dialect === "admin")?.port ?? 0}`;
  for (const [adminSource, source] of [
    [
      ["--server", admin],
      ["--server", url, "--cluster", "demo"],
    ],
    [
      ["--config", config],
      ["--config", config],
    ],
  ] as const) {
    const status = await runJson(["status", ...adminSource]);
    assert.equal(status.exit_code, 0, JSON.stringify(status.diagnostics));
    assert.equal((await runJson(["check", "/primary", "--node", "pg1", ...source])).exit_code, 0);
    assert.equal((await runJson(["check", "/replica?lag=10MB", "--node", "demo/pg2", ...source])).exit_code, 0);
    assert.equal((await runJson(["check", "/replica", ...source])).exit_code, 0);
    const unfit = await runJson(["explain", "/replica", "--node", "pg1", ...adminSource]);
    assert.equal(unfit.exit_code, 1);
    assert.equal((unfit.data as { reason: string }).reason, "wrong_role");
    const whole = await runJson(["explain", "/sync", ...adminSource]);
    assert.equal(whole.exit_code, 1);
    const { reason, nodes } = whole.data as { reason: string; nodes: { node: string; reason: string; link: string }[] };
    assert.deepEqual([reason, nodes.map(({ node }) => node).toSorted()], ["none_fit", ["pg1", "pg2", "pg3"]]);
    assert.deepEqual(nodes.map((row) => row.link).toSorted(), [
      "docs/reasons.md#not_sync",
      "docs/reasons.md#not_sync",
      "docs/reasons.md#wrong_role",
    ]);
    assert.equal((await runJson(["explain", "/primary", ...adminSource])).exit_code, 0);
    assert.equal((await runJson(["check", "/replica?lagg=1", "--node", "pg1", ...source])).exit_code, 2);
  }
});

test("doctor finds exactly the planted problems", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, "127.0.0.1", resolve);
  });
  const { port } = taken.address() as { port: number };
  const faulty = join(folder, "faulty.yaml");
  const seeds = simulator.nodes.map((node) => `"${node.url}"`).join(", ");
  writeFileSync(
    faulty,
    `clusters:\n  - { name: demo, discover: [${seeds}] }\n` +
      '  - name: gone\n    nodes: [{ name: pg9, api: "http://127.0.0.1:1" }]\n' +
      "    tls: { cert: none.pem, key: none.pem }\n" +
      `guards: { exclusive_primary: false }\nprobe: { max_age: 30s }\nlisten: [{ port: ${port}, cluster: demo }]\n`,
  );
  const { diagnostics, coverage, evidence, exit_code: code } = await runJson(["doctor", "--config", faulty]);
  taken.close();
  const rules = new Set(diagnostics.map(({ rule_id: id }) => id));
  for (const id of ["RC100", "RC106", "RC107", "RC110", "RC111"]) assert.ok(rules.has(id), `${id} is reported`);
  assert.equal(rules.has("RC105"), false);
  // The limit of max_age is unknown for the cluster that does not answer, so a required step did not complete.
  assert.equal(code, 2);
  assert.equal(coverage.find(({ id }) => id === "max_age")?.status, "incomplete");
  const haproxy = coverage.find(({ id }) => id === "haproxy");
  assert.ok(evidence.length === 1 && evidence[0]?.command[1] === "-c");
  assert.equal(haproxy?.status, evidence[0].exit_code === -1 ? "unsupported" : "complete");
});

test("doctor passes a healthy cluster, even if haproxy is not installed", async () => {
  const {
    diagnostics,
    coverage,
    exit_code: code,
  } = await runJson(["doctor", "--config", config, "--haproxy", "/no/such/haproxy"]);
  assert.deepEqual(diagnostics, []);
  assert.equal(code, 0);
  assert.equal(coverage.find(({ id }) => id === "haproxy")?.status, "unsupported");
});

test("nodes with a private authority: --node-ca trusts it; without, status and explain say why nothing answers", async (context) => {
  const { certFile, cert, key } = selfSignedCertificate(context);
  const node = new FakeNode({
    name: "pg1",
    holdsLock: true,
    tls: { cert, key },
    respond: (_, response) => void response.end(JSON.stringify(statusDocument("pg1", { patroni: { scope: "demo" } }))),
  });
  await node.open();
  context.after(() => node.close());
  node.members = new Map([["pg1", node.api]]);
  const source = ["--discover", node.api];
  const { data } = await runJson(["status", ...source, "--node-ca", certFile]);
  const [named] = (data as { clusters: { cluster: string; nodes: { node: string }[] }[] }).clusters;
  assert.deepEqual([named?.cluster, named?.nodes.map((row) => row.node)], ["demo", ["pg1"]]);
  assert.equal((await runJson(["check", "/primary", "--node", "pg1", ...source, "--node-ca", certFile])).exit_code, 0);
  const cause = /127\.0\.0\.1:\d+ does not answer: certificate not trusted, .* with --node-ca beside --discover/;
  for (const command of [["status"], ["explain"]])
    assert.match((await runText([...command, ...source])).out, cause, command.join(" "));
});

test("doctor reports a node of another scope", async () => {
  const other = await startSimulator({ nodes: 1, port: 0, scope: "other", nowMs: () => Date.now() });
  const mixed = join(folder, "mixed.yaml");
  const [own, foreign] = [simulator.nodes[1], other.nodes[0]];
  writeFileSync(
    mixed,
    "clusters:\n  - name: demo\n    nodes:\n" +
      `      - { name: pg2, api: "${own?.url}" }\n      - { name: pg1, api: "${foreign?.url}" }\n` +
      "listen: [{ port: 0 }]\n",
  );
  const { diagnostics } = await runJson(["doctor", "--config", mixed]);
  await other.stop();
  assert.ok(diagnostics.some(({ rule_id: id, message }) => id === "RC104" && message.includes("pg1")));
});

test("compare counts agreements, and reports invalid checks of haproxy.cfg", { timeout: 30_000 }, async () => {
  const haproxy = join(folder, "haproxy.cfg");
  writeFileSync(
    haproxy,
    "backend reads\n    option httpchk GET /replica?lag=10MBB\n    option httpchk GET /replicas\n" +
      "backend writes\n    option httpchk OPTIONS /primary\n    server pg1 10.0.0.1:5432 check\n" +
      "backend web\n    option httpchk HEAD /up\n    server w1 10.0.9.1:80 check\n" +
      "backend found\n    option httpchk GET /primary\n    server-template pg 3 db.lab:5432 check\n",
  );
  const {
    data,
    diagnostics,
    exit_code: code,
  } = await runJson([
    "compare",
    "--config",
    config,
    "--server",
    url,
    "--for",
    "2s",
    "--interval",
    "150ms",
    "--from-haproxy",
    haproxy,
    "--check",
    "/primary",
    "--check",
    "/replica",
  ]);
  assert.deepEqual(
    diagnostics.map(({ rule_id: id, location }) => [id, location?.line]),
    [
      ["RC041", 2],
      ["RC042", 3],
      ["RC044", 8],
      ["RC044", 12],
    ],
  );
  assert.equal(code, 1);
  const { askings, agreements, rows } = data as ComparisonData;
  assert.equal(rows.length, 6);
  // One round at least: how many fit into 2 s depends on the machine.
  assert.ok(askings >= 6);
  assert.equal(agreements, askings);
});

test(
  "compare follows the member list: it adds new members and drops former ones",
  { timeout: 30_000 },
  async (context) => {
    const [pg1, pg2] = await openFakeCluster(context, ["pg1", "pg2"]);
    assert.ok(pg1 !== undefined && pg2 !== undefined);
    const pg3 = new FakeNode({ name: "pg3", holdsLock: false });
    pg3.leader = "pg1";
    await pg3.open();
    context.after(() => pg3.close());
    const running = runJson(
      ["compare", "--discover", pg1.api, "--cluster", "demo", "--server", url, "--check", "/replica"].concat(
        ["--for", "3s"],
        ["--interval", "50ms", "--members-interval", "100ms"],
      ),
    );
    await until("a request for /replica", () => pg2.requests.includes("/replica"));
    pg1.members = new Map([pg1, pg3].map(({ name, api }) => [name, api]));
    const { data } = await running;
    const samples = new Map((data as ComparisonData).rows.map((row) => [row.node, row.askings]));
    assert.deepEqual([...samples.keys()], ["demo/pg1", "demo/pg2", "demo/pg3"]);
    assert.ok((samples.get("demo/pg2") ?? 0) < (samples.get("demo/pg1") ?? 0), JSON.stringify([...samples]));
  },
);

test("renders configuration that its programs accept", async () => {
  const parts = await Promise.all(
    ["haproxy", "envoy", "prometheus"].map((kind) =>
      runText(["render", kind, "--config", config, "--edge", "127.0.0.1:8008", "--node-metrics", "nodes"]),
    ),
  );
  const [haproxy, envoy, prometheus] = parts.map(({ out }) => out);
  for (const { code } of parts) assert.equal(code, 0);
  const hosts = (parse(envoy ?? "") as { static_resources: { clusters: unknown[] } }).static_resources.clusters;
  assert.equal(hosts.length, 5); // two pools, and the checks of three nodes
  assertChecked("haproxy", ["-c", "-f"], join(folder, "haproxy-rendered.cfg"), haproxy ?? "");
  writeFileSync(join(folder, "rolecall-rules.yml"), (await runText(["render", "alerts"])).out);
  assertChecked("promtool", ["check", "config"], join(folder, "prometheus.yml"), prometheus ?? "");
});

/** Validates a file with the program that reads it, if the program is installed. */
function assertChecked(program: string, args: readonly string[], file: string, text: string): void {
  assert.match(text, /pg2/);
  writeFileSync(file, text);
  const { error, status, stderr, stdout } = spawnSync(program, [...args, file], { encoding: "utf8" });
  if (error === undefined) assert.equal(status, 0, `${stdout}${stderr}`);
}
