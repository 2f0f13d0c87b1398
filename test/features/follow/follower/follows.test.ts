import assert from "node:assert/strict";
import { test } from "node:test";
import type { Config } from "../../../../src/core/config/model/config.ts";
import { Follows, type FollowsContext } from "../../../../src/features/follow/follower/follows.ts";
import { buildClusters } from "../../../../src/core/state/clusters.ts";
import { Store } from "../../../../src/core/state/store.ts";
import { clusterOf, configOf } from "../../../fake/config.ts";

const upstream = { url: "http://one", tokenFile: null, tls: null };

function configFollowing(...names: readonly string[]): Config {
  return configOf({ clusters: names.map((name) => clusterOf({ name, follow: [upstream] })) });
}

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  await new Promise(setImmediate);
  return settled;
}

/** Follows an upstream that never answers, at a time that the test sets. Probes end when the test says so. */
function contextOf(): {
  readonly context: FollowsContext;
  /** How often a stream was opened. */
  readonly opened: () => number;
  readonly pass: (ms: number) => void;
  /** Ends the first round of the probes that began as the first, the second, … */
  readonly rounds: readonly (() => void)[];
} {
  let nowMs = 0;
  let opened = 0;
  let tick: () => void = () => {};
  const rounds: (() => void)[] = [];
  const config = configFollowing("demo", "other");
  const store = new Store("run", buildClusters(config, new Map()));
  const context: FollowsContext = {
    open: () => () => {
      opened += 1;
      return { echo: () => {}, select: () => {}, drain: () => assert.fail("no operator drains here"), close: () => {} };
    },
    self: { version: "1", name: "edge" },
    state: (name) => store.clusterNamed(name),
    policy: (name) => store.policyOf(name),
    record: () => {},
    adopt: () => {},
    onDrain: () => {},
    now: () => nowMs,
    reading: () => ({ monotonicMs: nowMs, addedMs: 0 }),
    wall: () => nowMs,
    setTimer: (run) => {
      tick = run;
      return () => {};
    },
    random: () => 0,
    probing: {
      begin: () => new Promise((resolve) => void rounds.push(resolve)),
      end: () => {},
      isActive: () => false,
      ask: () => Promise.resolve(null),
    },
    onFirst: () => {},
    onState: () => {},
    onError: (error) => assert.fail(String(error)),
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    tick();
  };
  return { context, opened: () => opened, pass, rounds };
}

function openFollows(): { readonly follows: Follows } & Pick<ReturnType<typeof contextOf>, "pass" | "rounds"> {
  const { context, ...parts } = contextOf();
  return { follows: new Follows(context), ...parts };
}

test("a cluster that a reload removes before its first evidence is waited for no more", async () => {
  const { follows } = openFollows();
  const first = follows.start(configFollowing("demo"));
  assert.equal(await isSettled(first), false);
  const second = follows.start(configFollowing("other"));
  assert.deepEqual([await isSettled(first), await isSettled(second)], [true, false]);
  follows.stop();
  assert.equal(await isSettled(second), true);
});

test("a cluster that comes back is waited for anew: probes from before count for nothing", async () => {
  const { follows, pass, rounds } = openFollows();
  const first = follows.start(configFollowing("demo"));
  pass(10_000);
  assert.equal(rounds.length, 1);
  await follows.start(configOf({ clusters: [] }));
  const again = follows.start(configFollowing("demo"));
  rounds[0]?.();
  assert.deepEqual([await isSettled(first), await isSettled(again)], [true, false]);
  pass(10_000);
  rounds[1]?.();
  assert.equal(await isSettled(again), true);
  follows.stop();
});

test("a second start waits for the first evidence, too", async () => {
  const { follows, pass, rounds } = openFollows();
  const starts = [follows.start(configFollowing("demo")), follows.start(configFollowing("demo"))];
  assert.deepEqual(await Promise.all(starts.map(isSettled)), [false, false]);
  pass(10_000);
  rounds[0]?.();
  assert.deepEqual(await Promise.all(starts.map(isSettled)), [true, true]);
  follows.stop();
});
