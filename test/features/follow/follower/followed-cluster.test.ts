import assert from "node:assert/strict";
import { test } from "node:test";
import type { DcsResult } from "../../../../src/core/cluster/dcs.ts";
import type { DrainChange } from "../../../../src/core/cluster/drain.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { FollowedCluster, type FollowedConfig } from "../../../../src/features/follow/follower/followed-cluster.ts";
import { SecondOpinions } from "../../../../src/features/follow/follower/second-opinions.ts";
import { buildClusters } from "../../../../src/core/state/clusters.ts";
import { Store } from "../../../../src/core/state/store.ts";
import { statusOutcome } from "../../../core/health/arbitraries.ts";
import { clusterOf, configOf, nodeOf } from "../../../fake/config.ts";

const [one, two] = ["http://one", "http://two"] as const;
const drain = { reason: "disk", by: "ann", extent: "all", untilMs: 1e9, since: "", until: "" } as const;
const refused: DcsResult = { failure: { kind: "refused", detail: "" } };
const named = (leader: string): DcsResult => ({ read: { leader, source: "etcd", revision: 7, hasScope: true } });

/** A followed cluster over a store, at a time that the test sets. */
class Followed {
  nowMs = 10_000;
  readonly store: Store;
  readonly cluster: FollowedCluster;
  readonly drains: DrainChange[] = [];
  readonly asked: string[] = [];
  firsts = 0;
  readonly #timers: { readonly atMs: number; readonly run: () => void }[] = [];

  constructor(follow: readonly string[], nodes: readonly string[] = ["pg1", "pg2"], isProbed = false) {
    const config = this.configOf(follow, nodes);
    const { probe } = config;
    this.store = new Store("run", buildClusters({ clusters: [config.cluster], probe }, new Map()));
    const setTimer = (run: () => void, ms: number): (() => void) => {
      const timer = { atMs: this.nowMs + ms, run };
      this.#timers.push(timer);
      return () => void this.#timers.splice(this.#timers.indexOf(timer), this.#timers.includes(timer) ? 1 : 0);
    };
    const ask = (_: string, node: string): Promise<null> => {
      this.asked.push(node);
      return Promise.resolve(null);
    };
    const about: ConstructorParameters<typeof FollowedCluster>[1] = {
      state: () => this.store.clusterNamed("demo"),
      policy: () => this.store.policyOf("demo"),
      record: (outcome) => this.store.record(outcome, this.nowMs),
      adopt: (state) => this.store.adopt(state),
      onDrain: (change) => this.drains.push(change),
      now: () => this.nowMs,
      opinions: new SecondOpinions({ ask, setTimer, random: () => 0 }),
      random: () => 0,
      probing: { begin: () => {}, end: () => {} },
      onFirst: () => (this.firsts += 1),
      onStop: () => {},
    };
    this.cluster = new FollowedCluster(config, about, isProbed);
  }

  configOf(follow: readonly string[], nodes: readonly string[] = ["pg1", "pg2"]): FollowedConfig {
    const cluster = clusterOf({
      dcs: { etcd: ["http://etcd:2379"], prefix: "/service", scope: null, tls: null, auth: null },
      nodes: nodes.map((name) => nodeOf({ name, api: `http://${name}:8008` })),
      follow: follow.map((url) => ({ url, tokenFile: null, tls: null })),
    });
    return { cluster, probe: configOf({ clusters: [] }).probe };
  }

  get state(): ClusterState {
    const state = this.store.clusterNamed("demo");
    assert.ok(state !== undefined);
    return state;
  }

  /** What the snapshot says of the DCS: who leads, or why it cannot be read. */
  get dcs(): string | null {
    const { dcs } = this.state;
    return dcs?.isUp === true ? (dcs.read?.leader ?? null) : (dcs?.failure?.kind ?? null);
  }

  says(upstream: string, result: DcsResult, sentAtMs = this.nowMs): void {
    this.cluster.take(upstream, { kind: "dcs", cluster: "demo", sentAtMs, result });
  }

  /** The state that an owner has: `null` of the DCS if it cannot read that. */
  full(upstream: string, leader: string | null): void {
    const owner = new Followed([]);
    owner.store.record(statusOutcome("pg1", this.nowMs), this.nowMs);
    const result = leader === null ? refused : named(leader);
    owner.store.record({ kind: "dcs", cluster: "demo", sentAtMs: this.nowMs, result }, this.nowMs);
    this.cluster.takeFull(upstream, owner.state);
  }

  /** Runs the timers that are due, and lets what they begin end. */
  async pass(ms: number): Promise<void> {
    this.nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs);
    for (const timer of due)
      if (this.#timers.includes(timer)) {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        timer.run();
      }
    await new Promise(setImmediate);
  }
}

test("what a removed upstream said of the DCS counts no more", () => {
  const followed = new Followed([one, two]);
  followed.full(one, "pg1");
  followed.full(two, "pg1");
  followed.says(two, refused);
  assert.equal(followed.dcs, "pg1");
  followed.cluster.configure(followed.configOf([two]));
  followed.cluster.tick([two]);
  assert.equal(followed.dcs, "unreachable");
  followed.says(two, refused);
  assert.equal(followed.dcs, "refused");
});

test("nor what a silent upstream said of it, until it is heard again", () => {
  const followed = new Followed([one, two]);
  followed.full(one, "pg1");
  followed.full(two, null);
  assert.equal(followed.dcs, "pg1");
  followed.cluster.tick([two]);
  assert.equal(followed.dcs, "unreachable");
  followed.cluster.tick([one, two]);
  assert.equal(followed.dcs, "pg1");
});

test("an upstream whose state is the first that is known reads the DCS, after probes of this instance too", () => {
  const followed = new Followed([one]);
  followed.full(one, "pg1");
  followed.cluster.tick([one]);
  for (const ms of [100, 3_000]) {
    followed.nowMs += ms;
    followed.cluster.tick([]);
  }
  assert.deepEqual([followed.cluster.phase, followed.dcs], ["probing", "unreachable"]);
  followed.cluster.tick([one]);
  assert.deepEqual([followed.cluster.phase, followed.dcs], ["following", "pg1"]);
});

test("a watch that this instance had before it followed counts no more than that of its upstreams", () => {
  const followed = new Followed([one]);
  followed.store.record(statusOutcome("pg1", 9_000), 9_000);
  followed.store.record({ kind: "dcs", cluster: "demo", sentAtMs: 9_000, result: named("pg1") }, 9_000);
  followed.full(one, null);
  followed.cluster.tick([one]);
  assert.equal(followed.dcs, "unreachable");
});

test("a reading that comes after a later failure of another upstream counts", () => {
  const followed = new Followed([one, two]);
  followed.full(two, null);
  followed.says(two, refused, 9_500);
  followed.says(one, named("pg2"), 9_400);
  assert.equal(followed.dcs, "pg2");
});

test("a drain of a removed upstream ends when another one states its drains, and does not come back with it", () => {
  const followed = new Followed([one, two]);
  followed.full(one, "pg1");
  followed.cluster.take(one, { kind: "drain", cluster: "demo", node: "pg2", drain });
  assert.deepEqual([...followed.state.drains.keys()], ["pg2"]);
  followed.cluster.configure(followed.configOf([two]));
  assert.deepEqual([...followed.state.drains.keys()], ["pg2"]);
  followed.full(two, "pg1");
  assert.deepEqual([...followed.state.drains.keys()], []);
  followed.cluster.configure(followed.configOf([one, two]));
  followed.full(two, "pg1");
  assert.deepEqual([...followed.state.drains.keys()], []);
  assert.deepEqual(
    followed.drains.map(({ kind, node }) => `${kind} ${node}`),
    ["begun pg2", "ended pg2"],
  );
});

test("the DCS that this instance has read counts for a moment after the cluster was passed on", () => {
  const followed = new Followed([one], ["pg1", "pg2"], true);
  followed.store.record(statusOutcome("pg1", 10_000), 10_000);
  followed.store.record({ kind: "dcs", cluster: "demo", sentAtMs: 10_000, result: named("pg1") }, 10_000);
  followed.nowMs += 500;
  followed.cluster.tick([]);
  assert.deepEqual([followed.cluster.phase, followed.dcs], ["probing", "pg1"]);
  followed.nowMs += 3_000;
  followed.cluster.tick([]);
  assert.equal(followed.dcs, "unreachable");
});

test("a drain of an upstream ends when its cluster is followed no more, and one that was set here stays", () => {
  const followed = new Followed([one]);
  followed.full(one, "pg1");
  followed.cluster.take(one, { kind: "drain", cluster: "demo", node: "pg2", drain });
  followed.store.record({ kind: "drain", cluster: "demo", node: "pg1", drain: { ...drain, by: "bob" } }, 10_000);
  followed.cluster.leave();
  assert.deepEqual([...followed.state.drains.keys()], ["pg1"]);
});

test("a node that is gone is forgotten: one of the same name is asked as if it were new", async () => {
  const followed = new Followed([one]);
  const replace = (nodes: readonly string[]): void => {
    const { cluster, probe } = followed.configOf([one], nodes);
    followed.store.replace(buildClusters({ clusters: [cluster], probe }, new Map([["demo", followed.state]])));
    followed.cluster.tick([one]);
  };
  const askedNow = async (): Promise<readonly string[]> => {
    followed.cluster.tick([one]);
    await followed.pass(1);
    return followed.asked.splice(0);
  };
  followed.full(one, "pg1");
  const oldMs = followed.configOf([one]).probe.maxAgeMs - 500;
  followed.nowMs += oldMs;
  assert.deepEqual(await askedNow(), ["pg1", "pg2"]);
  assert.deepEqual(await askedNow(), [], "once an interval");
  replace(["pg2"]);
  replace(["pg1", "pg2"]);
  followed.store.record(statusOutcome("pg1", followed.nowMs - oldMs), followed.nowMs);
  assert.deepEqual(await askedNow(), ["pg1"]);
});

test("an upstream that states ever other nodes and drains adds no more than a cluster may have", () => {
  const followed = new Followed([one]);
  followed.full(one, "pg1");
  for (let round = 0; round < 3; round += 1) {
    const nodes = Array.from({ length: 900 }, (_, at) => `x${round}-${at}`);
    followed.cluster.takeFull(one, new Followed([], nodes).state);
    for (const node of nodes) followed.cluster.take(one, { kind: "drain", cluster: "demo", node, drain });
  }
  const { nodes, drains } = followed.state;
  assert.deepEqual([nodes.length, drains.size], [1_024, 900]);
  for (let at = 0; at < 300; at += 1)
    followed.cluster.take(one, { kind: "drain", cluster: "demo", node: `z${at}`, drain });
  assert.equal(followed.state.drains.size, 1_024);
});

test("a node that is down, or was never heard, is asked now and then: its owner may not reach it", async () => {
  const followed = new Followed([one]);
  followed.full(one, "pg1");
  const pauseMs = followed.cluster.silentMs;
  const askedAfter = async (ms: number): Promise<readonly string[]> => {
    // The owner is well, and hears of pg1 only that it does not answer.
    followed.nowMs += ms;
    followed.cluster.tick([one]);
    await followed.pass(1);
    return followed.asked.splice(0);
  };
  for (let failures = 0; failures < 5; failures += 1) {
    followed.nowMs += 1_000;
    const result = { failure: { kind: "timeout", detail: "" } } as const;
    followed.store.record({ ...statusOutcome("pg1", followed.nowMs), result }, followed.nowMs);
  }
  assert.ok(followed.state.nodes.every(({ report, isDown }) => report === null || isDown));
  assert.deepEqual(await askedAfter(1), ["pg1", "pg2"]);
  assert.deepEqual(await askedAfter(pauseMs - 100), []);
  assert.deepEqual(await askedAfter(200), ["pg1", "pg2"]);
  assert.deepEqual(await askedAfter(pauseMs - 100), []);
  assert.deepEqual(await askedAfter(200), ["pg1", "pg2"]);
});

test("a node whose evidence is too old is asked once an interval; a healthy owner's answers are never that old", async () => {
  const followed = new Followed([one], ["pg1"]);
  followed.full(one, "pg1");
  followed.nowMs += 60_000;
  for (let times = 0; times < 3; times += 1) {
    followed.cluster.tick([one]);
    await followed.pass(1_001);
  }
  assert.deepEqual(
    followed.asked.splice(0).filter((node) => node === "pg1"),
    ["pg1", "pg1", "pg1"],
  );
  const { cluster, probe } = followed.configOf([one], ["pg1"]);
  followed.cluster.configure({ cluster, probe: { ...probe, maxAgeMs: probe.timeoutMs + probe.intervalMs } });
  followed.store.record(statusOutcome("pg1", followed.nowMs), followed.nowMs);
  followed.nowMs += 2 * probe.intervalMs - 100;
  followed.cluster.tick([one]);
  await followed.pass(1);
  assert.ok(!followed.asked.includes("pg1"));
});

test("an owner that has heard no server of a cluster does not feed it: its nodes are probed here until one has answered", () => {
  const followed = new Followed([one]);
  const { probe } = followed.configOf([one]);
  const tick = (ms: number): string => {
    followed.nowMs += ms;
    followed.cluster.tick([one]);
    return followed.cluster.phase;
  };
  followed.cluster.takeFull(one, new Followed([]).state);
  assert.deepEqual([tick(0), followed.firsts], ["awaiting", 0]);
  assert.deepEqual([tick(followed.cluster.silentMs + 1), followed.firsts], ["probing", 0]);
  followed.cluster.take(one, statusOutcome("pg1", followed.nowMs));
  assert.deepEqual([tick(0), followed.firsts], ["following", 1]);
  assert.deepEqual([tick(probe.intervalMs), followed.firsts], ["following", 1]);
});

test("the first answer that an owner passes on is the first evidence, also if it had none when the stream began", () => {
  const followed = new Followed([one]);
  followed.cluster.takeFull(one, new Followed([]).state);
  assert.equal(followed.firsts, 0);
  followed.cluster.take(one, statusOutcome("pg1", followed.nowMs));
  assert.equal(followed.firsts, 1);
});

test("a node that was asked before it went down is asked again only after a pause", async () => {
  const followed = new Followed([one], ["pg1"]);
  followed.full(one, "pg1");
  followed.cluster.tick([one]);
  const asked = async (ms: number): Promise<number> => {
    await followed.pass(ms);
    followed.cluster.tick([one]);
    await followed.pass(0);
    return followed.asked.splice(0).filter((node) => node === "pg1").length;
  };
  const counts: number[] = [];
  const failure = { failure: { kind: "refused", detail: "" } } as const;
  for (let failures = 0; failures < 3; failures += 1) {
    followed.nowMs += 1_000;
    followed.cluster.take(one, { ...statusOutcome("pg1", followed.nowMs), result: failure });
    counts.push(await asked(0));
  }
  assert.equal(followed.state.nodes[0]?.isDown, true);
  assert.deepEqual(counts, [0, 0, 1]);
  assert.equal(await asked(followed.cluster.silentMs - 100), 0);
  assert.equal(await asked(200), 1);
});
