import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { figuresOf, summaries, type EventFigures } from "../../bench/outage/figures.ts";
import type { AttemptKind, Cut, LeaderChange } from "../../bench/outage/samples.ts";
import { medianInterval } from "../../bench/statistics.ts";

interface Row {
  readonly title: string;
  readonly yesAt?: Readonly<Record<string, number>>;
  readonly attempts?: readonly (readonly [AttemptKind, number, number, string | null, number?])[];
  readonly cuts?: readonly (readonly [Cut["kind"], string])[];
  readonly figures: Partial<EventFigures>;
}

const zeros: Omit<EventFigures, "yesMs" | "writeMs" | "outageMs"> = {
  oldWrites: 0,
  oldSessionWrites: 0,
  needlessCuts: 0,
  reads: 0,
  readsRefused: 0,
  readsStale: 0,
  worstBehindMs: 0,
};

function changeOf({ yesAt = {}, attempts = [], cuts = [] }: Omit<Row, "title" | "figures">, pool = "p"): LeaderChange {
  return {
    number: 1,
    kind: "switchover",
    startedAt: 0,
    endedAt: 5_000,
    from: "pg1",
    to: "pg2",
    promotedAt: 1_000,
    yesAt,
    attempts: attempts.map(([kind, startedAt, endedAt, node, behindMs = null]) => ({
      pool,
      kind,
      startedAt,
      endedAt,
      node,
      failure: node === null ? "closed" : null,
      behindMs,
    })),
    cuts: cuts.map(([kind, node]) => ({ pool, kind, node, at: 1_100 })),
  };
}

describe("the figures of a pool in one event", () => {
  for (const row of parse(readFileSync("test/spec/bench/outage-figures.yaml", "utf8")) as readonly Row[])
    test(row.title, () => {
      assert.deepEqual(figuresOf(changeOf(row), { name: "p", edge: "edge" }), { ...zeros, ...row.figures });
    });

  test("what other pools did does not count", () => {
    const change = changeOf({ attempts: [["write", 1_100, 1_110, "pg2"]], cuts: [["read", "pg3"]] }, "other");
    assert.deepEqual(figuresOf(change, { name: "p", edge: null }), {
      ...zeros,
      yesMs: null,
      writeMs: null,
      outageMs: null,
    });
  });
});

describe("the summary of pools over events", () => {
  const pools = [
    { name: "base", edge: null },
    { name: "ours", edge: "edge" },
  ];
  const event = (base: number | null, ours: number | null): LeaderChange => {
    const of = (pool: string, delay: number | null): LeaderChange["attempts"] =>
      delay === null ? [] : changeOf({ attempts: [["write", 1_000, 1_000 + delay, "pg2"]] }, pool).attempts;
    return { ...changeOf({ yesAt: { edge: 1_050 } }), attempts: [...of("base", base), ...of("ours", ours)] };
  };

  test("compares a pool with the baseline in the same event", () => {
    const [base, ours] = summaries([event(700, 200), event(900, 100), event(500, 300)], pools, "base");
    assert.deepEqual(base?.write, { median: 700, worst: 900 });
    assert.equal(base.difference, null);
    assert.deepEqual(ours?.write, { median: 200, worst: 300 });
    assert.deepEqual(ours.yes, { median: 50, worst: 50 });
    assert.equal(ours.difference?.figure, -500);
    assert.deepEqual(ours.relative, { median: 200 / 700, worst: 300 / 900 });
  });

  test("leaves events out of the difference in which one of both did not write, and counts them", () => {
    const [, ours] = summaries([event(700, null), event(null, 100), event(500, 300)], pools, "base");
    assert.equal(ours?.withoutWrite, 1);
    assert.deepEqual(ours.difference, { figure: -200, low: -200, high: -200 });
  });

  test("has no comparison without the baseline", () => {
    const [ours] = summaries([event(700, 200)], [{ name: "ours", edge: "edge" }], "base");
    assert.equal(ours?.difference, null);
    assert.equal(ours.relative, null);
  });
});

describe("the interval of a median", () => {
  test("is the same for the same values, and encloses the median", () => {
    const values = Array.from({ length: 30 }, (_, at) => (at * 7) % 30);
    const interval = medianInterval(values);
    assert.deepEqual(medianInterval(values), interval);
    assert.equal(interval.figure, 15);
    assert.ok(interval.low < 15 && interval.low > 5, `low ${interval.low}`);
    assert.ok(interval.high > 15 && interval.high < 25, `high ${interval.high}`);
  });

  test("of one value is this value", () => {
    assert.deepEqual(medianInterval([4]), { figure: 4, low: 4, high: 4 });
  });
});
