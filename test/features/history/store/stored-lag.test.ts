import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { LagSteps } from "../../../../src/core/events/stored/lag-steps.ts";
import { filesIn, historyConfig, openHistory, temporaryDirectory, type HistoryFixture } from "./history-fixture.ts";

const minuteMs = 60_000;
/** A whole minute. */
const startMs = 1_763_816_400_000;

function addMinute(
  { store }: HistoryFixture,
  minute: number,
  lags: Record<string, number | null>,
  cluster = "demo",
): void {
  store.addLag({ cluster, atWallMs: startMs + minute * minuteMs, lags: new Map(Object.entries(lags)) });
}

async function stepsOf(
  { store }: HistoryFixture,
  [from, to]: readonly [number, number],
  stepMs = minuteMs,
): Promise<LagSteps> {
  const steps = new LagSteps({ fromMs: startMs + from * minuteMs, toMs: startMs + to * minuteMs }, stepMs);
  assert.equal(await store.readLag("demo", steps), true);
  return steps;
}

test("the lag of a cluster outlives a restart, in files of its own", async (context) => {
  const directory = temporaryDirectory(context);
  const earlier = await openHistory(context, historyConfig(directory));
  for (const minute of [0, 1, 2, 3]) addMinute(earlier, minute, { pg1: null, pg2: minute * 100 });
  addMinute(earlier, 3, { pg2: 9_999 }, "other");
  await earlier.store.stop();
  assert.deepEqual(filesIn(directory), ["lag-0000000001.jsonl"]);
  const later = await openHistory(context, historyConfig(directory), "run2");
  const { series } = await stepsOf(later, [1, 2]);
  assert.deepEqual(series, {
    at: [startMs + minuteMs, startMs + 2 * minuteMs],
    nodes: { pg1: [null, null], pg2: [100, 200] },
  });
});

test("damaged lines of lag are left out, and reported once", async (context) => {
  const directory = temporaryDirectory(context);
  const earlier = await openHistory(context, historyConfig(directory));
  addMinute(earlier, 0, { pg2: 1 });
  await earlier.store.stop();
  const lines = ["{", '"pg2":"1"', '"pg2":-1', '"pg2":[]'].map(
    (lag) => `{"t":${startMs},"k":"lag","c":"demo","lags":{${lag}}}`,
  );
  appendFileSync(join(directory, "lag-0000000001.jsonl"), `${lines.join("\n")}\n\u0000\n`);
  const later = await openHistory(context, historyConfig(directory), "run2");
  assert.deepEqual((await stepsOf(later, [0, 1])).series.nodes, { pg2: [1] });
  assert.deepEqual((await stepsOf(later, [0, 1])).series.nodes, { pg2: [1] });
  assert.deepEqual(
    later.lines.map(({ msg, lines: damaged }) => [msg, damaged]),
    [["damaged lines of a history file left out", 5]],
  );
});

test("without a history no lag is kept, and all of nothing is read", async (context) => {
  const fixture = await openHistory(context, null);
  addMinute(fixture, 0, { pg2: 1 });
  assert.deepEqual((await stepsOf(fixture, [0, 1])).series, { at: [], nodes: {} });
});

test("steps keep the highest lag of their time, whatever the order of the samples", () => {
  const sample = fc.tuple(fc.integer({ min: 0, max: 999 }), fc.constantFrom("pg1", "pg2"), fc.option(fc.nat()));
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 50 }), fc.integer({ min: 1, max: 400 }), (samples, stepMs) => {
      const steps = new LagSteps({ fromMs: 0, toMs: 999 }, stepMs);
      for (const [atMs, node, lag] of samples) steps.add(atMs, [[node, lag]]);
      const { at, nodes } = steps.series;
      assert.deepEqual(
        at,
        [...new Set(samples.map(([atMs]) => Math.floor(atMs / stepMs) * stepMs))].sort((a, b) => a - b),
      );
      for (const [name, values] of Object.entries(nodes))
        for (const [index, value] of values.entries()) {
          const fromMs = at[index] ?? 0;
          const own = samples.filter(([atMs, node]) => node === name && atMs >= fromMs && atMs < fromMs + stepMs);
          const most = Math.max(-1, ...own.map(([, , lag]) => lag ?? -1));
          assert.equal(value, most < 0 ? null : most);
        }
    }),
    { numRuns: 60, seed: 5 },
  );
});

test("samples of another time, and nodes beyond the limit, are left out", () => {
  const steps = new LagSteps({ fromMs: 100, toMs: 200 }, 100);
  for (const atMs of [99, 201]) steps.add(atMs, [["pg1", 1]]);
  steps.add(
    150,
    Array.from({ length: 300 }, (_, node) => [`pg${node}`, node]),
  );
  assert.deepEqual(steps.series.at, [100]);
  assert.equal(Object.keys(steps.series.nodes).length, 256);
});
