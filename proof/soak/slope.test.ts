import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Chance } from "../campaign/chance.ts";
import { mediansOf, minimaOf, type Point, slopeOf } from "./slope.ts";

/** An hour of figures, one every 5 s. */
function hourOf(value: (hour: number, at: number) => number): readonly Point[] {
  return Array.from({ length: 720 }, (_, at) => ({ hour: at / 720, value: value(at / 720, at) }));
}

const windowHours = 1 / 24;

describe("slopeOf", () => {
  it("finds the slope of a line exactly", () => {
    const slope = slopeOf(
      minimaOf(
        hourOf((hour) => 100 + 12 * hour),
        windowHours,
      ),
    );
    assert.ok(slope !== null && Math.abs(slope.perHour - 12) < 1e-9 && Math.abs(slope.high - slope.low) < 1e-9);
  });

  it("finds no slope in a constant", () => {
    assert.deepEqual(
      slopeOf(
        minimaOf(
          hourOf(() => 7),
          windowHours,
        ),
      ),
      { perHour: 0, low: 0, high: 0, windows: 24 },
    );
  });

  it("is not misled by the saw-tooth of a garbage collector", () => {
    // It collects every 90 s, and what is collected differs a little each time.
    const chance = new Chance(1);
    const noise = Array.from({ length: 1_000 }, () => chance.next());
    const tooth = (_: number, at: number): number => 50 + (at % 18) * 2 + (noise[Math.floor(at / 18)] ?? 0);
    const slope = slopeOf(minimaOf(hourOf(tooth), windowHours));
    assert.ok(slope !== null && slope.low <= 0 && slope.high >= 0 && slope.high < 1, JSON.stringify(slope));
  });

  it("finds a leak below such a saw-tooth", () => {
    const slope = slopeOf(
      minimaOf(
        hourOf((hour, at) => 50 + (at % 18) * 2 + 5 * hour),
        windowHours,
      ),
    );
    assert.ok(slope !== null && slope.low > 3 && slope.high < 7, JSON.stringify(slope));
  });

  it("finds a timer that leaks once in ten minutes, and one that leaks never", () => {
    const leaking = slopeOf(
      minimaOf(
        hourOf((hour) => 30 + Math.floor(hour * 6)),
        windowHours,
      ),
    );
    assert.ok(leaking !== null && leaking.low > 1, JSON.stringify(leaking));
    const still = slopeOf(
      minimaOf(
        hourOf((_, at) => 30 + (at % 7)),
        windowHours,
      ),
    );
    assert.ok(still !== null && still.high < 1, JSON.stringify(still));
  });

  it("is not moved by single outliers", () => {
    const slope = slopeOf(hourOf((hour, at) => (at % 100 === 0 ? 5_000 : 10 * hour)));
    assert.ok(slope !== null && Math.abs(slope.perHour - 10) < 0.5, JSON.stringify(slope));
  });

  it("covers the true slope with its interval in 95 % of random series", () => {
    const chance = new Chance(27);
    let covered = 0;
    for (let run = 0; run < 300; run += 1) {
      const points = Array.from({ length: 24 }, (_, at) => ({
        hour: at / 24,
        value: 3 * (at / 24) + chance.next() + chance.next() + chance.next(),
      }));
      const slope = slopeOf(points);
      if (slope !== null && slope.low <= 3 && slope.high >= 3) covered += 1;
    }
    // Three standard deviations of a binomial variable around 285.
    assert.ok(covered >= 273 && covered <= 297, `${covered} of 300`);
  });

  it("takes the least or the median figure of each window, in order of time", () => {
    const points = [3, 1, 2, 9, 7, 8].map((value, at) => ({ hour: at / 3, value }));
    assert.deepEqual(
      [minimaOf(points, 1), mediansOf(points, 1)].map((of) => of.map(({ value }) => value)),
      [
        [1, 7],
        [2, 8],
      ],
    );
  });

  it("gives nothing for fewer than 8 points", () => {
    assert.equal(slopeOf(hourOf(() => 1).slice(0, 7)), null);
    assert.notEqual(slopeOf(hourOf(() => 1).slice(0, 8)), null);
  });
});
