import assert from "node:assert/strict";
import { test } from "node:test";
import { parseReport } from "../../../src/cluster/documents/report.ts";
import { restartPlan, scheduledSwitchover } from "../../../src/health/documents/plans.ts";

function planOf(fields: Readonly<Record<string, unknown>>): ReturnType<typeof restartPlan> {
  return restartPlan(parseReport({ state: "running", role: "replica", ...fields }) ?? null);
}

function switchoverIn(document: unknown, status = 200): ReturnType<typeof scheduledSwitchover> {
  const body = typeof document === "string" ? document : JSON.stringify(document);
  return scheduledSwitchover({ status, body, source: "pg1", sentAtMs: 0 });
}

const none = { pending_restart: false, scheduled_restart: null };
const at = "2026-01-31T23:00:00+00:00";

test("a node says whether it needs a restart, and when one is scheduled", () => {
  assert.deepEqual(planOf({}), none);
  assert.deepEqual(restartPlan(null), none);
  assert.deepEqual(planOf({ pending_restart: true }), { ...none, pending_restart: true });
  assert.deepEqual(planOf({ scheduled_restart: { schedule: at } }), { ...none, scheduled_restart: at });
});

test("values of another type are no plan", () => {
  assert.deepEqual(planOf({ pending_restart: "yes", scheduled_restart: at }), none);
  assert.deepEqual(planOf({ scheduled_restart: { schedule: "a\nb" } }), none);
});

test("the cluster document says when the cluster switches over, and to whom if that is decided", () => {
  const plan = { at, from: "pg1", to: "pg2" };
  assert.deepEqual(switchoverIn({ members: [], scheduled_switchover: plan }), plan);
  assert.deepEqual(switchoverIn({ scheduled_switchover: { at, from: "pg1" } }), { at, from: "pg1", to: null });
});

test("a missing, refused or unreadable cluster document has no plan", () => {
  assert.equal(scheduledSwitchover(null), null);
  assert.equal(switchoverIn({ members: [] }), null);
  assert.equal(switchoverIn({ scheduled_switchover: { at } }, 503), null);
  assert.equal(switchoverIn('"scheduled_switchover"'), null);
  assert.equal(switchoverIn('{"scheduled_switchover": '), null);
  assert.equal(switchoverIn({ scheduled_switchover: { from: "pg1" } }), null);
});
