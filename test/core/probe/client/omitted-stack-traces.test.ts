import assert from "node:assert/strict";
import { test } from "node:test";
import { hasWrittenNothingShared } from "../../../../src/app/uncaught-exceptions.ts";
import { NodeClient } from "../../../../src/core/probe/client/client.ts";
import { areStackTracesOmitted, omitStackTraces } from "../../../../src/core/probe/client/omitted-stack-traces.ts";
import { serveBytes } from "../../../fake/raw-node.ts";

/** The number of frames of an error that is created now. */
function frameCount(): number {
  return new Error("counted").stack?.split("\n    at ").slice(1).length ?? 0;
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

test("stack traces are omitted until the next tick only, and the limit is restored", async () => {
  const limit = Error.stackTraceLimit;
  const before = frameCount();
  assert.ok(before > 0);
  omitStackTraces();
  omitStackTraces();
  assert.equal(frameCount(), 0);
  assert.ok(areStackTracesOmitted());
  await nextTick();
  assert.equal(Error.stackTraceLimit, limit);
  assert.equal(frameCount() > 0, true);
  assert.equal(areStackTracesOmitted(), false);
});

test("an exception without a stack trace is limited to one connection only while they are omitted", async () => {
  omitStackTraces();
  const error = new Error("thrown by undici");
  assert.equal(hasWrittenNothingShared(error), true);
  await nextTick();
  assert.equal(hasWrittenNothingShared(error), false, "later nothing shows where it comes from");
});

test("code that waits for a response of a node that closes has stack traces", async (context) => {
  const { origin } = await serveBytes(context, "HTTP/1.0 200 OK\r\n\r\n{}");
  const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000 }, null);
  context.after(() => client.close());
  const limit = Error.stackTraceLimit;
  for (let time = 0; time < 3; time += 1) {
    const frames = await client.get("/leader").then(() => frameCount());
    assert.ok(frames > 0);
    assert.equal(Error.stackTraceLimit, limit);
  }
});
