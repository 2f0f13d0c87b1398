import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { observePauses } from "../../src/app/collector-pauses.ts";
import { until } from "../fake/until.ts";

test("counts each pause of the collector, until it ends", async (context: TestContext) => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const pauses: number[] = [];
  const end = observePauses((durationMs) => pauses.push(durationMs));
  context.after(end);
  collect();
  await until("a pause", () => pauses.length > 0);
  assert.ok(pauses.every((durationMs) => durationMs > 0 && durationMs < 60_000));
  end();
  const { length } = pauses;
  collect();
  await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(pauses.length, length);
});
