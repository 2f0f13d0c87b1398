import assert from "node:assert/strict";
import { test } from "node:test";
import { estimateSkewMs, skewMessage } from "../../../src/tools/doctor/clocks.ts";

test("estimates the skew from the middle of the second in the Date header and of the request", () => {
  assert.equal(estimateSkewMs(120_000, 500, 500), 120_000);
  assert.equal(estimateSkewMs(120_000, 0, 1_000), 120_000);
  assert.equal(estimateSkewMs(-120_000, 400, 600), -120_000);
});

test("the estimate is at most 500 ms plus half of the response time off", () => {
  const sentMs = 10_000;
  for (const responseMs of [0, 40, 800]) {
    for (let answeredAfterMs = 0; answeredAfterMs <= responseMs; answeredAfterMs += 20) {
      for (let skewMs = 119_000; skewMs < 121_000; skewMs += 130) {
        const dateMs = Math.floor((sentMs + answeredAfterMs + skewMs) / 1000) * 1000;
        const errorMs = Math.abs(estimateSkewMs(dateMs, sentMs, sentMs + responseMs) - skewMs);
        assert.ok(
          errorMs <= 500 + responseMs / 2,
          `${errorMs} ms off for skew ${skewMs} ms, response ${responseMs} ms`,
        );
      }
    }
  }
});

test("the message has the rounded skew and its direction", () => {
  assert.equal(
    skewMessage("demo/pg1", 119_600),
    "the clock of demo/pg1 is about 120 s ahead of the clock of this machine",
  );
  assert.equal(
    skewMessage("demo/pg1", -120_400),
    "the clock of demo/pg1 is about 120 s behind the clock of this machine",
  );
});
