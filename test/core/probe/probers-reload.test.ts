import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ClusterConfig, Config, NodeConfig } from "../../../src/core/config/model/config.ts";
import type { TlsMaterial } from "../../../src/core/config/tls-material.ts";
import { defaultGuards } from "../../../src/core/health/guards.ts";
import { companionProbes } from "../../../src/features/companions/node-companions.ts";
import { exporterProbes } from "../../../src/features/exporter/exporter-prober.ts";
import type { ProbeBringer } from "../../../src/core/probe/client/probe-context.ts";
import { Probers } from "../../../src/core/probe/probers.ts";
import { reconfigure } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { clusterOf, configOf, nodeOf } from "../../fake/config.ts";
import { failedReply, FakeTransport, healthyCluster, neverReplies } from "../../fake/fake-transport.ts";

const names = ["pg1", "pg2", "pg3"];
const intervalMs = 1_000;
/** When tests reload first. The round that the first leader requests was 250 ms after the start. */
const reloadAtMs = 1_500;

/** Probers over a scripted transport whose configuration is reloaded as the app does it. */
class Reloaded {
  readonly scripted: FakeTransport;
  readonly connections: { readonly origin: string; readonly tls: TlsMaterial | null }[] = [];
  readonly bursts: string[] = [];
  readonly checked: string[] = [];
  readonly firstRounds: string[] = [];
  readonly #store: Store;
  readonly probers: Probers;
  /** What features bring: a test may take it away. */
  brought: readonly ProbeBringer[] = [
    exporterProbes,
    companionProbes(({ host, port }) => {
      this.checked.push(`${host}:${port}`);
      return { ended: Promise.resolve(null), cancel: () => {} };
    }),
  ];

  constructor(context: TestContext) {
    this.scripted = new FakeTransport(context, new ClusterFixture({ nodes: [] }), healthyCluster(names));
    const { connect, policy: _, state: __, brought: ___, ...rest } = this.scripted.context();
    const store = new Store("run", []);
    this.#store = store;
    this.probers = new Probers({
      ...rest,
      cluster: (name) => store.clusterNamed(name),
      policy: (name) => store.policyOf(name),
      record: (outcome) => store.record(outcome, this.scripted.nowMs),
      connect: (origin, _limits, tls) => {
        this.connections.push({ origin, tls });
        return connect(origin);
      },
      brought: () => this.brought,
      onBurst: ({ cause }) => this.bursts.push(cause),
      onFirstRound: (cluster) => this.firstRounds.push(cluster),
      onTls: () => {},
    });
    store.onChange((before, after) => this.probers.onChange(before, after));
    context.after(() => this.probers.stop());
  }

  async load(config: Config, rests: () => boolean = () => false): Promise<void> {
    this.probers.retain(config.clusters.map(({ name }) => name));
    reconfigure(this.#store, config);
    const started = this.probers.start(config, 10, rests);
    await this.scripted.advance(0);
    await started;
  }

  /** When a node was asked for its status, from the first reload on. */
  asked(name: string): readonly number[] {
    return this.scripted.sentAt(`//${name}:8008/leader`).filter((atMs) => atMs >= reloadAtMs);
  }
}

const nodes = names.map((name) => nodeOf({ name, api: `http://${name}:8008` }));

function configWith(cluster: Partial<ClusterConfig> = {}, probe: Partial<Config["probe"]> = {}): Config {
  const config = configOf({ clusters: [clusterOf({ nodes, ...cluster })] });
  return { ...config, probe: { ...config.probe, intervalMs, burstIntervalMs: 500, ...probe } };
}

function renewed(change: Partial<NodeConfig>): readonly NodeConfig[] {
  return nodes.map((node) => (node.name === "pg2" ? { ...node, ...change } : node));
}

/** When nodes are asked that the reload leaves alone. */
const undisturbed = [2_250, 3_250, 4_250];
/** The same of those that it changes. */
const anew = [1_500, 2_500, 3_500, 4_500];

/** What a reload changes, and which nodes it starts to probe anew. */
const reloads: readonly { readonly what: string; readonly next: Config; readonly anew: readonly string[] }[] = [
  { what: "nothing", next: configWith(), anew: [] },
  { what: "guards", next: configWith({ guards: { ...defaultGuards, demotedForMs: 1 } }), anew: [] },
  { what: "zones", next: configWith({ zones: { tag: "zone" } }), anew: [] },
  {
    what: "the database of a node",
    next: configWith({ nodes: renewed({ database: { host: "db", port: 1 } }) }),
    anew: [],
  },
  { what: "another cluster", next: withOther(configWith()), anew: [] },
  { what: "a node is gone", next: configWith({ nodes: nodes.filter(({ name }) => name !== "pg3") }), anew: [] },
  {
    what: "a node is new",
    next: configWith({ nodes: [...nodes, nodeOf({ name: "pg4", api: "http://pg4:8008" })] }),
    anew: [],
  },
  {
    what: "the exporter of a node",
    next: configWith({ nodes: renewed({ exporter: "http://pg2:9630" }) }),
    anew: ["pg2"],
  },
  { what: "the name in a certificate", next: configWith({ nodes: renewed({ serverName: "pg2.db" }) }), anew: ["pg2"] },
  {
    what: "TLS of all",
    next: configWith({ tls: { ca: null, cert: null, key: null, serverName: "db", verify: "full" } }),
    anew: names,
  },
  { what: "timeout", next: configWith({}, { timeoutMs: 900 }), anew: names },
];

function withOther(config: Config): Config {
  const other = clusterOf({ name: "other", nodes: [nodeOf({ name: "px", api: "http://px:8008" })] });
  return { ...config, clusters: [other, ...config.clusters] };
}

for (const { what, next, anew: changed } of reloads)
  test(`a reload probes anew what it changes, and leaves the rest alone: ${what}`, async (context) => {
    const reloaded = new Reloaded(context);
    await reloaded.load(configWith());
    await reloaded.scripted.advance(reloadAtMs);
    const closedBefore = reloaded.scripted.closed.length;
    await reloaded.load(next);
    const closed = new Set(reloaded.scripted.closed.slice(closedBefore).map((origin) => new URL(origin).hostname));
    await reloaded.scripted.advance(3_100);
    const kept = next.clusters.flatMap((cluster) => cluster.nodes).filter(({ name }) => names.includes(name));
    for (const { name } of kept)
      assert.deepEqual(reloaded.asked(name), changed.includes(name) ? anew : undisturbed, name);
    // A node that is gone is asked no more, one that is new at once.
    for (const name of names.filter((each) => !kept.some((node) => node.name === each)))
      assert.deepEqual(reloaded.asked(name), [], name);
    const isNew = next.clusters.flatMap((cluster) => cluster.nodes).filter(({ name }) => !names.includes(name));
    for (const { name } of isNew) assert.equal(reloaded.asked(name)[0], 1_500, name);
    const gone = names.filter((name) => !kept.some((node) => node.name === name));
    const ended = names.filter((name) => closed.has(name));
    assert.deepEqual(ended, [...changed, ...gone].toSorted(), "connections that end");
  });

test("a reload keeps a probe that is in flight, and counts what it finds", async (context) => {
  const reloaded = new Reloaded(context);
  const { scripted } = reloaded;
  await reloaded.load(configWith());
  await scripted.advance(1_000);
  let answer = (): void => {};
  const healthy = scripted.respond;
  scripted.respond = (origin, path) =>
    origin === "http://pg2:8008" && path === "/leader"
      ? new Promise((resolve) => (answer = () => resolve(healthy(origin, path))))
      : healthy(origin, path);
  await scripted.advance(500);
  const reload = reloaded.load(configWith({ guards: { ...defaultGuards, demotedForMs: 1 } }));
  scripted.respond = healthy;
  answer();
  await reload;
  const results = scripted.results.filter(({ node, endpoint }) => node === "pg2" && endpoint === "leader");
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    // At the start, in the round that the first leader requested, and this one.
    ["answered", "answered", "answered"],
  );
  await scripted.advance(3_100);
  assert.deepEqual(reloaded.asked("pg2"), undisturbed);
});

test("a reload does not wait for longer than one timeout for a node that is silent", async (context) => {
  const reloaded = new Reloaded(context);
  const { scripted } = reloaded;
  await reloaded.load(configWith());
  const healthy = scripted.respond;
  scripted.respond = (origin, path) => (origin === "http://pg4:8008" ? neverReplies() : healthy(origin, path));
  let isApplied = false;
  const next = configWith({ nodes: [...nodes, nodeOf({ name: "pg4", api: "http://pg4:8008" })] });
  const reload = reloaded.load(next).then(() => (isApplied = true));
  await scripted.advance(950);
  assert.equal(isApplied, false);
  await scripted.advance(100);
  await reload;
});

test("a changed address is asked at once, and the former one no more", async (context) => {
  const reloaded = new Reloaded(context);
  await reloaded.load(configWith());
  await reloaded.scripted.advance(reloadAtMs);
  await reloaded.load(configWith({ nodes: renewed({ api: "http://pg5:8008" }) }));
  await reloaded.scripted.advance(2_000);
  assert.deepEqual(reloaded.asked("pg2"), []);
  assert.deepEqual(reloaded.asked("pg5"), [1_500, 2_500, 3_500]);
  assert.deepEqual(reloaded.asked("pg1"), [2_250, 3_250]);
});

test("a changed interval holds at once", async (context) => {
  const reloaded = new Reloaded(context);
  await reloaded.load(configWith());
  await reloaded.scripted.advance(reloadAtMs);
  await reloaded.load(configWith({}, { intervalMs: 500 }));
  await reloaded.scripted.advance(1_200);
  assert.deepEqual(reloaded.asked("pg1"), [1_500, 2_000, 2_500]);
});

test("a changed name in a certificate is what the next connections verify", async (context) => {
  const reloaded = new Reloaded(context);
  await reloaded.load(configWith());
  reloaded.connections.length = 0;
  await reloaded.load(configWith({ nodes: renewed({ serverName: "pg2.db" }) }));
  await reloaded.scripted.advance(reloadAtMs);
  const renamed = reloaded.connections.filter(({ origin }) => origin === "http://pg2:8008");
  assert.deepEqual(new Set(renamed.map(({ tls }) => tls?.servername)), new Set(["pg2.db"]));
});

test("a reload reads TLS files again, and connects anew only if their content has changed", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, "one");
  const config = configWith({ tls: { ca, cert: null, key: null, serverName: null, verify: "full" } });
  const reloaded = new Reloaded(context);
  await reloaded.load(config);
  reloaded.connections.length = 0;
  await reloaded.load(config);
  rmSync(ca);
  await reloaded.load(config);
  assert.equal(reloaded.connections.length, 0, "files that cannot be read leave the connections as they are");
  writeFileSync(ca, "two");
  await reloaded.load(config);
  assert.deepEqual(new Set(reloaded.connections.map(({ tls }) => tls?.ca)), new Set(["two"]));
});

test("a shorter interval of bursts holds after a reload", async (context) => {
  const reloaded = new Reloaded(context);
  await reloaded.load(configWith());
  await reloaded.load(configWith({}, { burstIntervalMs: 100 }));
  await reloaded.scripted.advance(reloadAtMs);
  assert.equal(reloaded.probers.hint("demo"), "begun");
  await reloaded.scripted.advance(450);
  assert.deepEqual(reloaded.asked("pg1").slice(-4), [1_650, 1_750, 1_850, 1_950]);
});

test("a burst goes on over a reload that does not concern it", async (context) => {
  const reloaded = new Reloaded(context);
  await reloaded.load(configWith());
  assert.equal(reloaded.probers.hint("demo"), "begun");
  await reloaded.load(configWith({ guards: { ...defaultGuards, demotedForMs: 1 } }));
  assert.equal(reloaded.probers.hint("demo"), "running");
  assert.deepEqual(reloaded.firstRounds, ["demo"]);
});

test("a reload counts the time of bursts anew", async (context) => {
  const reloaded = new Reloaded(context);
  const config = configWith();
  await reloaded.load(config);
  for (let time = 0; time < 40; time += 1) {
    reloaded.probers.hint("demo");
    await reloaded.scripted.advance(1_000);
  }
  assert.equal(reloaded.probers.hint("demo"), "spent");
  await reloaded.load(config);
  assert.equal(reloaded.probers.hint("demo"), "begun");
});

test("companions begin, move and end with a reload, and no other probe does", async (context) => {
  const reloaded = new Reloaded(context);
  const { scripted, checked } = reloaded;
  const named = (port: number): Config =>
    configWith({ companions: [{ name: "pgbouncer", kind: "tcp", port, path: null }] });
  await reloaded.load(configWith());
  await scripted.advance(reloadAtMs);
  for (const port of [6_432, 7_432]) {
    await reloaded.load(named(port));
    await scripted.advance(0);
    assert.deepEqual(new Set(checked), new Set(names.map((name) => `${name}:${port}`)));
    checked.length = 0;
  }
  await reloaded.load(configWith());
  await scripted.advance(3_100);
  assert.deepEqual(checked, []);
  assert.deepEqual(reloaded.asked("pg1"), undisturbed);
});

test("a cluster that others probe from a reload on is probed until they feed it; one that rests goes on resting", async (context) => {
  const reloaded = new Reloaded(context);
  const { scripted, probers } = reloaded;
  const [config, rests] = [configWith(), (): boolean => true];
  await reloaded.load(config);
  await scripted.advance(reloadAtMs);
  await reloaded.load(config, rests);
  await scripted.advance(1_000);
  assert.deepEqual(reloaded.asked("pg1"), [2_250]);
  probers.end("demo");
  await reloaded.load(config, rests);
  await reloaded.load({ ...config, probe: { ...config.probe, timeoutMs: 900 } }, rests);
  await scripted.advance(2_000);
  assert.deepEqual(reloaded.asked("pg1"), [2_250]);
  await reloaded.load(config);
  assert.deepEqual(reloaded.asked("pg1"), [2_250, 4_500]);
});

test("discovery goes on over a reload: an address that is new is asked, one that is gone no more", async (context) => {
  const reloaded = new Reloaded(context);
  const { scripted } = reloaded;
  scripted.respond = healthyCluster(["pg1"]);
  const discovering = (...discover: readonly string[]): Config => configWith({ nodes: [], discover });
  await reloaded.load(discovering("http://pg1:8008", "http://pg6:8008"));
  await scripted.advance(reloadAtMs);
  await reloaded.load(discovering("http://pg1:8008", "http://pg7:8008"));
  await scripted.advance(3_100);
  assert.deepEqual(reloaded.asked("pg1"), undisturbed);
  assert.equal(reloaded.asked("pg7")[0], 1_500);
  assert.deepEqual(reloaded.asked("pg6"), []);
});

test("a listed address is asked for its list from the reload on that configures it, until one that does not", async (context) => {
  const reloaded = new Reloaded(context);
  const { scripted } = reloaded;
  const healthy = healthyCluster(["pg1", "pg2"]);
  scripted.respond = (origin, path) => (origin === "http://pg2:8008" ? failedReply("refused") : healthy(origin, path));
  const discovering = (...discover: readonly string[]): Config => configWith({ nodes: [], discover });
  const lists = (): number => scripted.sentAt("//pg2:8008/cluster").length;
  await reloaded.load(discovering("http://pg1:8008"));
  await scripted.advance(reloadAtMs);
  assert.ok(scripted.sentAt("//pg2:8008/leader").length > 0);
  assert.equal(lists(), 0);
  await reloaded.load(discovering("http://pg1:8008", "http://pg2:8008"));
  assert.equal(lists(), 1);
  await reloaded.load(discovering("http://pg1:8008"));
  const before = scripted.sentAt("//pg2:8008/leader").length;
  await scripted.advance(10_000);
  assert.ok(scripted.sentAt("//pg2:8008/leader").length > before);
  assert.equal(lists(), 1);
});
