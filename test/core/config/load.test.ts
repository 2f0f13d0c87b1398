import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { parse } from "yaml";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import type { LoadedConfig } from "../../../src/core/config/load.ts";
import { loadConfig } from "../../../src/app/registry/config.ts";
import { renderProblems } from "../../../src/core/config/model/problem.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-config-"));
after(() => rmSync(folder, { recursive: true }));

function load(text: string): LoadedConfig {
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, text);
  return loadConfig({ file, env: {}, flags: {} });
}

function loaded(result: LoadedConfig) {
  assert.ok(result.ok, result.ok ? "" : renderProblems(result.problems));
  return result.config;
}

test("a minimal file gets every default", () => {
  const config = loaded(
    load("clusters: [{ name: demo, discover: ['HTTP://10.0.0.1:8008/patroni/', 'https://db.internal/'] }]"),
  );
  const guards = {
    exclusivePrimary: true,
    runningPrimary: true,
    attachedReplica: true,
    sameSystem: true,
    failoverHold: true,
    attachWindowMs: 10_000,
    demotedForMs: 60_000,
    lagSamples: 1,
    dwellMs: 0,
    handoverHoldMs: 0,
    surviveMs: 0,
  };
  const listener = {
    address: "127.0.0.1",
    cluster: "demo",
    node: null,
    wholeCluster: false,
    operatorPages: false,
    defaults: "",
    access: unrestrictedAccess,
    agent: null,
    xds: null,
  };
  assert.deepEqual(config, {
    clusters: [
      {
        name: "demo",
        scope: "demo",
        discover: ["http://10.0.0.1:8008", "https://db.internal"],
        nodes: [],
        tls: null,
        auth: null,
        source: null,
        zones: null,
        companions: [],
        canaries: [],
        follow: [],
        dcs: null,
        guards,
      },
    ],
    probe: {
      intervalMs: 1000,
      connectTimeoutMs: 500,
      timeoutMs: 2500,
      fall: 3,
      rise: 1,
      maxAgeMs: 5500,
      burstIntervalMs: 250,
      clusterIntervalMs: 3000,
      configIntervalMs: 30_000,
      metricsIntervalMs: 3000,
    },
    listen: [
      { ...listener, port: 8008, dialect: "node" },
      { ...listener, port: 9108, dialect: "admin", cluster: null },
    ],
    pools: [],
    unnamedPools: [],
    balancers: [],
    poolers: [],
    peers: [],
    fleet: null,
    kubernetes: null,
    audit: { intervalMs: 5_000, envoys: [] },
    hostSuffixes: [],
    ignoreParams: ["be"],
    stateFile: null,
    history: { isEnabled: true, directory: null, sizeMax: 268_435_456, ageMaxMs: 2_592_000_000 },
    drainMs: 5000,
    fastPath: true,
    workers: "auto",
    log: { level: "info", format: "auto" },
    exporter: { naming: "upstream", disableIntro: false, namespace: null, telemetryPath: "/metrics" },
  });
});

test("every key of a file gets into its own property", () => {
  const file = "test/spec/config/every-key.yaml";
  const result = loadConfig({ file, env: {}, flags: {} });
  const config = loaded(result);
  assert.deepEqual(result.ok && result.simulator, { nodes: 5, port: 19_008 });
  assert.deepEqual(withRelativeFiles(config), jsonOf("every-key.json"));
});

test("every key of a fleet gets into its own property, which is frozen", () => {
  const { fleet } = loaded(loadConfig({ file: "test/spec/config/every-fleet-key.yaml", env: {}, flags: {} }));
  assert.deepEqual(withRelativeFiles(fleet), jsonOf("every-fleet-key.json"));
  assert.ok(Object.isFrozen(fleet?.etcd.urls) && Object.isFrozen(fleet?.etcd.auth));
});

function withRelativeFiles(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(join(process.cwd(), "test/spec/config/"), "./"));
}

function jsonOf(name: string): unknown {
  return JSON.parse(readFileSync(join("test/spec/config", name), "utf8"));
}

test("a fleet with its required keys gets every default", () => {
  const { fleet } = loaded(
    load(
      "clusters: [{ name: demo, discover: ['http://10.0.0.1:8008'] }]\n" +
        "fleet: { name: edges, advertise: 'http://edge1:9108', etcd: { urls: ['http://10.0.0.1:2379'] } }",
    ),
  );
  assert.deepEqual(fleet, {
    name: "edges",
    advertise: "http://edge1:9108",
    etcd: { urls: ["http://10.0.0.1:2379"], prefix: "/rolecall", tls: null, auth: null },
    zone: null,
    observers: 1,
    weight: 1,
    leaseMs: 5_000,
    tokenFile: null,
    tls: null,
  });
});

suite("a fleet may have", () => {
  const clusters = [{ name: "demo", discover: ["http://10.0.0.1:8008"], follow: ["https://core1:9108"] }];
  const required = { name: "edges", advertise: "https://edge1:9443", etcd: { urls: ["http://10.0.0.1:2379"] } };
  const rows = parse(readFileSync("test/spec/config/good-fleets.yaml", "utf8")) as { name: string; fleet: object }[];
  for (const { name, fleet } of rows)
    test(name, () => {
      const config = loaded(load(JSON.stringify({ clusters, follow: [], fleet: { ...required, ...fleet } })));
      assert.equal(config.clusters[0]?.follow.length, 1);
    });
});

test("a file with every default equals a minimal file", () => {
  const config = loaded(loadConfig({ file: "test/spec/config/sample.yaml", env: {}, flags: {} }));
  const minimal = loaded(load("clusters: [{ name: demo, discover: ['http://10.0.0.1:8008'] }]"));
  assert.deepEqual({ ...config, clusters: [], listen: [] }, { ...minimal, clusters: [], listen: [] });
  assert.deepEqual(config.clusters[0]?.guards, minimal.clusters[0]?.guards);
  assert.deepEqual(
    config.listen.map(({ address, port, dialect, cluster, node, wholeCluster }) => [
      address,
      port,
      dialect,
      cluster,
      node,
      wholeCluster,
    ]),
    [
      ["127.0.0.1", 8008, "node", "demo", null, true],
      ["127.0.0.1", 8108, "node", "demo", "pg2", false],
      ["127.0.0.1", 9108, "admin", null, null, false],
    ],
  );
});

test("max_age defaults to three intervals and one timeout", () => {
  const config = loaded(
    load("clusters: [{ name: a, discover: ['http://a:1'] }]\nprobe: { interval: 200ms, timeout: 1s }"),
  );
  assert.equal(config.probe.maxAgeMs, 1600);
});

test("a listener without a cluster answers for the only one, or for all of several", () => {
  const one = loaded(
    load("clusters: [{ name: a, discover: ['http://a:1'] }]\nlisten: [{ port: 1 }, { port: 2, cluster: '*' }]"),
  );
  assert.deepEqual(
    one.listen.map(({ cluster }) => cluster),
    ["a", null],
  );
  const two = loaded(
    load(
      "clusters: [{ name: a, discover: ['http://a:1'] }, { name: b, discover: ['http://b:1'] }]\nlisten: [{ port: 1 }, { port: 2, cluster: b }]",
    ),
  );
  assert.deepEqual(
    two.listen.map(({ cluster }) => cluster),
    [null, "b"],
  );
});

test("a configuration is deeply frozen", () => {
  const config = loaded(load("clusters: [{ name: a, nodes: [{ name: n, api: 'http://a:1', database: 'a:5432' }] }]"));
  const isFrozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  assert.ok(isFrozen(config));
});

test("loading a file twice gives equal configurations: defaults are not shared", () => {
  const text = "clusters: [{ name: a, discover: ['http://a:1'] }]";
  assert.deepEqual(load(text), load(text));
});
