import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../fake/until.ts";
import { eventAt, historyConfig, openHistory, temporaryDirectory } from "./history-fixture.ts";

test("nothing is read for a request that was aborted before it began", async (context) => {
  const { store, clock } = await openHistory(context, historyConfig(temporaryDirectory(context)));
  store.addEvent(eventAt(clock.wallMs, "1.1"));
  store.addOutcome(
    { kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: 900, isAlive: true },
    clock.nowMs,
    clock.wallMs,
  );
  const all = { sinceMs: -Infinity, untilMs: Infinity, limit: 10, matches: () => true };
  await until("the event on disk", async () => (await store.readEvents(all)).events.length === 1);
  await until("the evidence on disk", async () => (await store.oldestEvidenceMs()) !== null);
  const aborted = { signal: AbortSignal.abort() };
  assert.deepEqual((await store.readEvents(all, aborted)).events, []);
  assert.equal(await store.oldestEvidenceMs(aborted), null);
});
