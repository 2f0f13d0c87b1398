import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DocumentProber } from "../../../../src/core/probe/documents/document-prober.ts";
import { DocumentRequests } from "../../../../src/core/probe/documents/document-requests.ts";
import { ViewRounds } from "../../../../src/core/probe/documents/view-rounds.ts";
import { failedReply, healthyCluster, FakeTransport } from "../../../fake/fake-transport.ts";
import { answeringCluster, ClusterFixture } from "../../../fake/cluster-fixture.ts";

const names = ["pg1", "pg2", "pg3"];

/** Rounds of a quiet cluster that pg1 leads, and the instants at which each asked pg1. */
function roundsOf(context: TestContext, schedule: Parameters<FakeTransport["context"]>[0] = {}) {
  const watched = answeringCluster();
  const scripted = new FakeTransport(context, watched, healthyCluster(names));
  const probeContext = scripted.context(schedule);
  const rounds = new ViewRounds(probeContext, new DocumentRequests(probeContext), () => {});
  context.after(() => rounds.stop());
  return { watched, scripted, rounds, askedAt: (name = "pg1") => scripted.sentAt(`${name}:8008/cluster`) };
}

/** Moves the clock by as many ms, the last 100 of them one by one. */
async function advanceExactly(scripted: FakeTransport, ms: number): Promise<void> {
  await scripted.advance(ms - 100);
  await scripted.advance(100, 1);
}

test("a round that is requested is followed by one other, an interval later but at least 1 s", async (context) => {
  for (const [intervalMs, gapMs] of [
    [500, 1_000],
    [1_000, 1_000],
    [2_000, 2_000],
  ] as const) {
    context.mock.timers.reset();
    const { scripted, rounds, askedAt } = roundsOf(context, { intervalMs });
    rounds.start();
    await advanceExactly(scripted, gapMs + 50);
    await scripted.advance(8_000);
    assert.deepEqual(
      askedAt().map((atMs) => atMs - (askedAt()[0] ?? 0)),
      [0, gapMs],
    );
  }
});

test("a round that is requested soon after another one starts 1 s after it", async (context) => {
  const { scripted, rounds, askedAt } = roundsOf(context, { intervalMs: 2_000 });
  rounds.start();
  await scripted.advance(500);
  rounds.start();
  await scripted.advance(1_000);
  assert.deepEqual(askedAt(), [50, 1_050]);
});

test("rounds of a dispute begin only if there is one, are not brought forward, and end with it", async (context) => {
  const { watched, scripted, rounds, askedAt } = roundsOf(context);
  rounds.startIfWanted();
  await scripted.advance(2_000);
  assert.deepEqual(askedAt(), []);
  watched.lead("pg2", scripted.nowMs);
  for (let step = 0; step < 100; step += 1) {
    rounds.startIfWanted();
    await scripted.advance(50);
  }
  assert.deepEqual(askedAt(), [2_050, 3_050, 6_050]);
  watched.follow("pg2", scripted.nowMs);
  await scripted.advance(10_000);
  assert.deepEqual(askedAt(), [2_050, 3_050, 6_050, 9_050], "the one that was due, and no other");
});

test("rounds of a dispute are a cluster interval apart, but at least 1 s", async (context) => {
  const { watched, scripted, rounds, askedAt } = roundsOf(context, { clusterIntervalMs: 200 });
  watched.lead("pg2", 0);
  rounds.startIfWanted();
  await scripted.advance(3_500);
  assert.deepEqual(askedAt(), [50, 1_050, 2_050, 3_050]);
});

test("a contradicting view asks for no other round while one is due", async (context) => {
  const watched = answeringCluster();
  const scripted = new FakeTransport(context, watched, healthyCluster(["pg2", "pg1", "pg3"]));
  const prober = new DocumentProber(scripted.context({ clusterIntervalMs: 60_000 }));
  context.after(() => prober.stop());
  await prober.probe();
  await scripted.advance(500);
  await prober.probe();
  await scripted.advance(5_000);
  assert.deepEqual(scripted.sentAt("pg3:8008/cluster"), [50, 1_050], "two rounds");
});

test("a round that asks no node delays none", async (context) => {
  const { watched, scripted, rounds, askedAt } = roundsOf(context);
  watched.lead("pg1", 0, { failsafe_mode_is_active: true });
  rounds.start();
  await scripted.advance(500);
  assert.deepEqual(askedAt(), []);
  watched.lead("pg1", scripted.nowMs);
  rounds.start();
  await scripted.advance(100);
  assert.deepEqual(askedAt(), [550]);
});

test("a round of one node asks that node", async (context) => {
  const watched = new ClusterFixture({ nodes: ["pg1"] });
  watched.lead("pg1", 0);
  const scripted = new FakeTransport(context, watched, healthyCluster(["pg1"]));
  const probeContext = scripted.context();
  const rounds = new ViewRounds(probeContext, new DocumentRequests(probeContext), () => {});
  rounds.start();
  await scripted.advance(100);
  assert.deepEqual(scripted.sentAt("pg1:8008/cluster"), [50]);
  rounds.stop();
});

test("a node whose view failed takes part in rounds again after 5 s, not before", async (context) => {
  for (const [clusterIntervalMs, asked] of [
    [3_999, [0]],
    [4_000, [0, 5_000]],
  ] as const) {
    context.mock.timers.reset();
    const { watched, scripted, rounds, askedAt } = roundsOf(context, { clusterIntervalMs });
    watched.lead("pg2", 0);
    scripted.respond = (origin, path) =>
      origin.includes("pg3") ? failedReply("timeout") : healthyCluster(names)(origin, path);
    rounds.startIfWanted();
    for (const ms of [1_100, 4_000]) await advanceExactly(scripted, ms);
    assert.equal(askedAt().length, 3, "as many rounds");
    assert.deepEqual(
      askedAt("pg3").map((atMs) => atMs - (askedAt()[0] ?? 0)),
      asked,
    );
    rounds.stop();
  }
});

test("each round of a large cluster goes on where the one before ended", async (context) => {
  const many = Array.from({ length: 40 }, (_, at) => `pg${at + 1}`);
  const watched = new ClusterFixture({ nodes: many });
  watched.lead("pg1", 0);
  for (const name of many.slice(1)) watched.follow(name, 0);
  const scripted = new FakeTransport(context, watched, healthyCluster(many));
  const probeContext = scripted.context();
  const rounds = new ViewRounds(probeContext, new DocumentRequests(probeContext), () => {});
  rounds.start();
  await scripted.advance(1_100);
  rounds.stop();
  const asked = [50, 1_050].map((atMs) =>
    scripted.sent.filter((request) => request.atMs === atMs).map(({ url }) => many.indexOf(new URL(url).hostname)),
  );
  const [first = [], second = []] = asked;
  assert.deepEqual([first.length, second.length], [32, 32]);
  // pg1 claims the lock, so it is the first in each round. The other 39 take turns.
  assert.equal(second[1], ((first.at(-1) ?? 0) % 39) + 1);
});
