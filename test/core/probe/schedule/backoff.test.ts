import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFailure, afterSuccess, type Backoff, backoffMs } from "../../../../src/core/probe/schedule/backoff.ts";

const none: Backoff = { firstMs: 10, maxMs: 60, failures: 0 };

test("the delay doubles with each failure up to the limit", () => {
  const delays: number[] = [];
  for (let backoff = none; backoff.failures <= 5; backoff = afterFailure(backoff)) delays.push(backoffMs(backoff));
  assert.deepEqual(delays, [0, 10, 20, 40, 60, 60]);
});

test("a success resets the delay, after any number of failures", () => {
  assert.equal(backoffMs(afterSuccess(none)), 0);
  assert.equal(backoffMs(afterSuccess(afterFailure(none))), 0);
  assert.equal(backoffMs(afterSuccess(afterFailure(afterFailure(none)))), 0);
});

test("a failure changes no existing value", () => {
  const once = Object.freeze(afterFailure(none));
  afterFailure(once);
  assert.equal(backoffMs(once), 10);
});

test("many failures do not exceed the limit", () => {
  assert.equal(backoffMs({ ...none, failures: 10_000 }), 60);
});
