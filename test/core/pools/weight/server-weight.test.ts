import { equal, ok } from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import type { WeightConfig } from "../../../../src/core/config/model/config.ts";
import { percentForLag } from "../../../../src/core/pools/weight/lag-weight.ts";
import { ServerWeight } from "../../../../src/core/pools/weight/server-weight.ts";
import type { WeightInput } from "../../../../src/core/pools/weight/weight-input.ts";

const byLag: WeightConfig = { fullMs: 1_000, noneMs: 10_000, floor: 1, warmUpMs: 0 };
const withWarmUp: WeightConfig = { ...byLag, warmUpMs: 60_000 };

const configs = fc
  .record({
    fullMs: fc.integer({ min: 0, max: 60_000 }),
    widthMs: fc.integer({ min: 1, max: 60_000 }),
    floor: fc.integer({ min: 1, max: 50 }),
    warmUpMs: fc.constantFrom(0, 1_000, 60_000),
  })
  .map(({ widthMs, ...rest }): WeightConfig => ({ ...rest, noneMs: rest.fullMs + widthMs }));

const steps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 1, max: 3_000 }),
    isFit: fc.boolean(),
    lagMs: fc.option(fc.integer({ min: 0, max: 120_000 })),
    startedAt: fc.constantFrom(null, "2026-01-01", "2026-01-02"),
  }),
  { maxLength: 60 },
);

/** Weights at the instants of the inputs. */
function weightsOf(config: WeightConfig, inputs: readonly WeightInput[]): readonly number[] {
  const weight = new ServerWeight(config);
  return inputs.map((input) => weight.update(input));
}

/** One input every 200 ms. */
function fitWithLags(lags: readonly (number | null)[], startedAt: string | null = "start"): WeightInput[] {
  return lags.map((lagMs, at) => ({ nowMs: at * 200, isFit: true, lagMs, startedAt }));
}

function changesOf(weights: readonly number[]): number {
  return weights.filter((weight, at) => at > 0 && weight !== weights[at - 1]).length;
}

describe("percentForLag", () => {
  for (const [lagMs, percent] of [
    [0, 100],
    [1_000, 100],
    [5_500, 51],
    [9_999, 1],
    [10_000, 1],
    [Infinity, 1],
  ] as const)
    it(`returns ${percent}% for a lag of ${lagMs} ms`, () => equal(percentForLag(lagMs, byLag), percent));

  it("never rises with the lag", () => {
    fc.assert(
      fc.property(configs, fc.nat(120_000), fc.nat(120_000), (config, one, more) => {
        ok(percentForLag(one, config) >= percentForLag(one + more, config));
      }),
    );
  });
});

describe("ServerWeight", () => {
  it("is a whole number from the floor to 100, and changes at most once a second, whatever happens", () => {
    fc.assert(
      fc.property(configs, steps, (config, taken) => {
        const weight = new ServerWeight(config);
        let [nowMs, last, changedAtMs] = [0, Number.NaN, -Infinity];
        for (const { afterMs, ...known } of taken) {
          nowMs += afterMs;
          const percent = weight.update({ nowMs, ...known });
          ok(Number.isInteger(percent) && percent >= config.floor && percent <= 100, String(percent));
          if (percent === last) continue;
          ok(nowMs - changedAtMs >= 1_000);
          [last, changedAtMs] = [percent, nowMs];
        }
      }),
    );
  });

  it("does not change while the lag is constant", () => {
    fc.assert(
      fc.property(configs, fc.option(fc.nat(120_000)), (config, lagMs) => {
        equal(changesOf(weightsOf(config, fitWithLags(Array.from({ length: 100 }, () => lagMs)))), 0);
      }),
    );
  });

  it("changes at most once while the lag's noise is smaller than the band", () => {
    const noises = fc.array(fc.integer({ min: -350, max: 350 }), { minLength: 100, maxLength: 200 });
    fc.assert(
      fc.property(fc.nat(15_000), noises, (lagMs, noise) => {
        const lags = noise.map((by) => Math.max(0, lagMs + by));
        ok(changesOf(weightsOf(byLag, fitWithLags(lags))) <= 1);
      }),
    );
  });

  it("does not rise between the peaks of a lag that swings", () => {
    const lags = Array.from({ length: 300 }, (_, at) => (at % 10 < 5 ? 200 : 9_000));
    ok(changesOf(weightsOf(byLag, fitWithLags(lags))) <= 1);
  });

  it("falls as soon as the lag grows, and rises once the lag has been lower for 3 s", () => {
    const weights = weightsOf(byLag, fitWithLags([...times(10, 0), ...times(20, 5_500), ...times(20, 0)]));
    equal(weights[9], 100);
    equal(weights[10], 51);
    equal(weights[30 + 14], 51);
    equal(weights[30 + 15], 100);
  });

  it("counts an unknown lag as grown by the time since it was known", () => {
    const weights = weightsOf(byLag, fitWithLags([0, ...times(60, null)]));
    equal(weights[4], 100);
    equal(weights.at(-1), 1);
    ok(weights.every((weight, at) => at === 0 || weight <= (weights[at - 1] ?? 0)));
  });

  it("gives the floor while the lag was never known", () => equal(weightsOf(byLag, fitWithLags([null]))[0], 1));

  it("keeps its weight when it is configured anew, and follows the new limits", () => {
    const weight = new ServerWeight(byLag);
    equal(weight.update({ nowMs: 0, isFit: true, lagMs: 5_500, startedAt: null }), 51);
    weight.configure({ ...byLag, fullMs: 6_000 });
    equal(weight.update({ nowMs: 1_000, isFit: true, lagMs: 5_500, startedAt: null }), 51);
    equal(weight.update({ nowMs: 4_000, isFit: true, lagMs: 5_500, startedAt: null }), 100);
  });
});

describe("warm-up", () => {
  const at = (nowS: number, isFit: boolean, startedAt: string | null): WeightInput => {
    return { nowMs: nowS * 1_000, isFit, lagMs: 0, startedAt };
  };
  const cases: readonly { title: string; inputs: readonly WeightInput[]; percent: number }[] = [
    { title: "does not begin when rolecall starts", inputs: [at(0, true, "a")], percent: 100 },
    {
      title: "begins once a restarted server is fit",
      inputs: [at(0, true, "a"), at(2, false, "a"), at(5, false, "b"), at(9, true, "b")],
      percent: 10,
    },
    {
      title: "begins after a restart that no check noticed",
      inputs: [at(0, true, "a"), at(2, true, "b")],
      percent: 10,
    },
    {
      title: "does not begin after an absence without a restart",
      inputs: [at(0, true, "a"), at(2, false, "a"), at(200, true, "a")],
      percent: 100,
    },
    {
      title: "begins when a server is first seen running while rolecall runs",
      inputs: [at(0, false, null), at(5, true, "a")],
      percent: 10,
    },
    {
      title: "does not begin for a server that runs already but lags at first",
      inputs: [at(0, false, "a"), at(5, true, "a")],
      percent: 100,
    },
    {
      title: "begins after a long absence of a server that states no start",
      inputs: [at(0, true, null), at(2, false, null), at(62, true, null)],
      percent: 10,
    },
    {
      title: "does not begin after a short absence of a server that states no start",
      inputs: [at(0, true, null), at(2, false, null), at(30, true, null)],
      percent: 100,
    },
  ];
  for (const { title, inputs, percent } of cases) it(title, () => equal(weightsOf(withWarmUp, inputs).at(-1), percent));

  it("rises to 100 within its time and never falls meanwhile", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 600_000 }), fc.integer({ min: 1, max: 5_000 }), (warmUpMs, everyMs) => {
        const weight = new ServerWeight({ ...byLag, warmUpMs });
        weight.update({ nowMs: -everyMs - 1_000, isFit: true, lagMs: 0, startedAt: "a" });
        let last = 0;
        for (let nowMs = 0; nowMs <= warmUpMs + everyMs + 1_000; nowMs += everyMs) {
          const percent = weight.update({ nowMs, isFit: true, lagMs: 0, startedAt: "b" });
          if (nowMs === 0) equal(percent, 10);
          ok(percent >= last);
          last = percent;
        }
        equal(last, 100);
      }),
      { numRuns: 30 },
    );
  });

  it("takes the lower of both weights", () => {
    const weight = new ServerWeight(withWarmUp);
    weight.update(at(0, true, "a"));
    equal(weight.update(at(2, true, "b")), 10);
    equal(weight.update({ ...at(32, true, "b"), lagMs: 9_000 }), 12);
  });
});

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}
