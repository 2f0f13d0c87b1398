/** Streams whose clusters change while they are open, between a real owner and a real upstream in one process. */
import { feedsOf } from "../../../fake/feeds-fixture.ts";
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { Config } from "../../../../src/core/config/model/config.ts";
import { readFeedMessage, type WantedCluster } from "../../../../src/features/follow/feed/feed-messages.ts";
import { outcomeShape } from "../../../../src/core/config/outcome-shape.ts";
import type { OpenFeed } from "../../../../src/features/follow/follower/feed-connection.ts";
import { Upstream } from "../../../../src/features/follow/follower/upstream.ts";
import { Feeds } from "../../../../src/features/follow/owner/feeds.ts";
import { buildClusters } from "../../../../src/core/state/clusters.ts";
import { Store } from "../../../../src/core/state/store.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";

const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];

/** An owner of some clusters, and an upstream that follows some of them. */
class MovingPair {
  readonly clock = new ManualClock();
  readonly feeds: Feeds;
  readonly upstream: Upstream;
  /** What the follower was told, in order. */
  readonly told: string[] = [];
  /** How many streams were opened. */
  opened = 0;
  #owned: readonly Name[];
  #record: (outcome: ProbeOutcome) => void = () => {};

  /** @param knows who of the two understands that a stream moves */
  constructor(owned: readonly Name[], wanted: readonly Name[], knows = { owner: true, follower: true }) {
    this.#owned = owned;
    const store = new Store("run", buildClusters(this.#config(names), new Map()));
    const { clock } = this;
    const setTimer = (run: () => void, delayMs: number): (() => void) => clock.setTimer(run, delayMs);
    const reading = (): { monotonicMs: number; addedMs: number } => ({ monotonicMs: clock.nowMs, addedMs: 0 });
    const onOutcome: Parameters<typeof feedsOf>[1] = {
      onOutcome: (listener) => {
        this.#record = listener;
        return () => {};
      },
    };
    this.feeds = feedsOf({ config: () => this.#config(this.#owned), store, clock }, onOutcome);
    const context = {
      name: "owner",
      self: { version: "1", name: "follower" },
      now: () => clock.nowMs,
      reading,
      wall: () => clock.nowMs,
      setTimer,
      random: () => 0.5,
      echoEveryMs: 1_000,
      onOutcome: (_: string, { cluster, kind }: ProbeOutcome) => void this.told.push(`${cluster} ${kind}`),
      onFull: (_: string, cluster: string) => void this.told.push(`${cluster} in full`),
      onState: () => {},
      open: this.#opener(knows),
    };
    this.upstream = new Upstream(context, this.#wanted(wanted));
    this.upstream.start();
  }

  /** The follower asks for these from now on. */
  select(...wanted: readonly Name[]): void {
    this.upstream.select(this.#wanted(wanted));
  }

  /** The owner probes these from now on. */
  own(...owned: readonly Name[]): void {
    this.#owned = owned;
    this.feeds.reselect();
  }

  /** The owner has probed each cluster once. @returns what the follower was told in the next moment */
  async probed(): Promise<readonly string[]> {
    await this.clock.pass(100);
    this.told.length = 0;
    for (const cluster of names)
      this.#record({ kind: "liveness", cluster, node: "pg1", sentAtMs: this.clock.nowMs, isAlive: true });
    await this.clock.pass(100);
    return [...this.told];
  }

  feeding(): readonly Name[] {
    return names.filter((name) => this.upstream.feeds(name, 60_000));
  }

  #wanted(wanted: readonly string[]): readonly WantedCluster[] {
    const { clusters, probe } = this.#config(names);
    return clusters
      .filter(({ name }) => wanted.includes(name))
      .map((cluster) => ({ name: cluster.name, shape: outcomeShape(cluster, probe) }));
  }

  #config(probed: readonly Name[]): Config {
    const upstream = { url: "http://other", tokenFile: null, tls: null };
    const follow = (name: Name): Config["clusters"][number]["follow"] => (probed.includes(name) ? [] : [upstream]);
    return configOf({ clusters: names.map((name) => clusterOf({ name, follow: follow(name) })) });
  }

  #opener(knows: { readonly owner: boolean; readonly follower: boolean }): OpenFeed {
    const caller = { name: "f", principal: null, mayFollow: () => true, mayDrain: () => false };
    return (request, sink) => {
      this.opened += 1;
      let isOpen = true;
      const outlet = {
        waiting: 0,
        write: (bytes: Buffer): void => {
          const line = gunzipSync(bytes).toString();
          const message = readFeedMessage(JSON.parse(knows.owner ? line : line.replace('"canMove":true,', "")));
          if (message !== null && isOpen) sink.onMessage(message);
        },
        end: (): void => {
          if (isOpen) sink.onEnd("ended");
        },
      };
      const asked = knows.follower ? request : { ...request, canMove: undefined };
      this.clock.setTimer(() => isOpen && this.feeds.open(asked, caller, () => outlet), 1);
      return {
        echo: (stream, token) => void this.feeds.echo({ stream, token }, caller),
        select: (selection) => void this.clock.setTimer(() => assert.ok(this.feeds.select(selection, caller)), 1),
        drain: () => assert.fail("nobody drains"),
        close: () => {
          isOpen = false;
        },
      };
    };
  }
}

suite("a stream whose clusters change", () => {
  test("goes on with those that stay, and gets those that are new in full", async () => {
    const pair = new MovingPair(["a", "b", "c"], ["a"]);
    assert.deepEqual(await pair.probed(), ["a liveness"]);
    pair.told.length = 0;
    pair.select("a", "b");
    await pair.clock.pass(50);
    assert.deepEqual(pair.told, ["b in full"]);
    assert.deepEqual(await pair.probed(), ["a liveness", "b liveness"]);
    assert.deepEqual([pair.opened, pair.feeding(), pair.upstream.state.kind], [1, ["a", "b"], "live"]);
  });

  test("tells nothing of a cluster that is no longer wanted, from the same moment on", async () => {
    const pair = new MovingPair(["a", "b"], ["a", "b"]);
    await pair.probed();
    pair.select("b");
    assert.deepEqual(pair.feeding(), ["b"]);
    assert.deepEqual(await pair.probed(), ["b liveness"]);
    pair.select("a", "b");
    assert.deepEqual(pair.feeding(), ["b"], "not before it was sent in full");
    assert.deepEqual(await pair.probed(), ["a liveness", "b liveness"]);
    assert.equal(pair.opened, 1);
  });

  test("loses what its owner no longer probes, and gets what that begins to probe", async () => {
    const pair = new MovingPair(["a", "b"], ["a", "b", "c"]);
    assert.deepEqual(await pair.probed(), ["a liveness", "b liveness"]);
    pair.own("b", "c");
    assert.deepEqual(await pair.probed(), ["b liveness", "c liveness"]);
    const { state } = pair.upstream;
    assert.deepEqual("refused" in state && state.refused.map(({ cluster, reason }) => [cluster, reason]), [
      ["a", "not_probed"],
    ]);
    assert.deepEqual([pair.opened, pair.feeding()], [1, ["b", "c"]]);
  });

  test("that breaks after a change is asked for what is wanted now, and goes on where it was", async () => {
    const pair = new MovingPair(["a", "b"], ["a"]);
    await pair.probed();
    pair.select("a", "b");
    await pair.probed();
    pair.upstream.beginAnew("it broke");
    await pair.clock.pass(1_000);
    assert.deepEqual(await pair.probed(), ["a liveness", "b liveness"]);
    assert.equal(pair.opened, 2);
  });

  test("is asked for what was wanted since it was opened", async () => {
    const pair = new MovingPair(["a", "b"], ["a"]);
    pair.select("b");
    assert.deepEqual(await pair.probed(), ["b liveness"]);
    assert.deepEqual([pair.opened, pair.feeding()], [1, ["b"]]);
  });

  for (const knows of [
    { owner: false, follower: true },
    { owner: true, follower: false },
  ])
    test(`is opened anew if only ${knows.owner ? "the owner" : "the follower"} understands it`, async () => {
      const pair = new MovingPair(["a", "b"], ["a", "c"], knows);
      assert.deepEqual(await pair.probed(), ["a liveness"]);
      pair.select("b", "c");
      await pair.clock.pass(2_000);
      assert.deepEqual(await pair.probed(), ["b liveness"]);
      pair.own("c");
      await pair.clock.pass(2_000);
      assert.deepEqual(await pair.probed(), ["c liveness"]);
      assert.ok(pair.opened > 1, `${pair.opened} streams`);
    });

  test("keeps nothing of clusters that are not configured, however many and often", async () => {
    const pair = new MovingPair(["a"], ["a"]);
    await pair.probed();
    const many = (from: string, count: number): object[] =>
      Array.from({ length: count }, (_, at) => ({ name: `${from}${at}`, shape: { scope: "x".repeat(100) } }));
    const caller = { name: "f", principal: null, mayFollow: () => true, mayDrain: () => false };
    for (let round = 0; round < 5; round += 1)
      assert.equal(pair.feeds.select({ stream: "1", add: many(`x${round}`, 10_000), drop: [] }, caller), true);
    assert.equal(pair.feeds.select({ stream: "1", add: many("y", 10_001), drop: [] }, caller), false);
    assert.equal(pair.feeds.select({ stream: "1", add: [], drop: [] }, caller), true);
    assert.deepEqual(await pair.probed(), ["a liveness"]);
  });

  test("leaves nothing behind: what nobody gets is not written", async () => {
    const pair = new MovingPair(["a", "b", "c"], ["a"]);
    for (let round = 0; round < 20; round += 1) {
      pair.select("a", round % 2 === 0 ? "b" : "c");
      await pair.clock.pass(10);
    }
    pair.feeds.endAll("stopping");
    pair.upstream.stop();
    await pair.clock.pass(60_000);
    assert.equal(pair.clock.timers, 0);
  });
});
