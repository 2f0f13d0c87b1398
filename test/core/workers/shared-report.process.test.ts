import assert from "node:assert/strict";
import { test } from "node:test";
import { WorkerProcess } from "../../../src/core/workers/worker-process.ts";

/** Longer than the test may take: a request that ends by its own limit fails the test. */
const withinMs = 120_000;

test("two requests for a report at a time both end with the report", { timeout: 60_000 }, async (context) => {
  const messages: string[] = [];
  const worker = WorkerProcess.spawn({ onMessage: ({ kind }) => messages.push(kind), onExit: () => {} });
  context.after(() => worker.close());
  await worker.ready();
  const before = worker.report;
  const overlapping = [worker.refreshReport(withinMs), worker.refreshReport(withinMs)];
  await Promise.all(overlapping);
  const between = worker.report;
  assert.notEqual(between, before);
  await worker.refreshReport(withinMs);
  assert.notEqual(worker.report, between, "a later request gets a report of its own");
  assert.deepEqual(messages, [], "every report is the reply to a request");
});
