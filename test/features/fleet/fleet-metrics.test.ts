import assert from "node:assert/strict";
import { test } from "node:test";
import { fleetMetrics, type FleetUsage } from "../../../src/features/fleet/fleet-metrics.ts";

const usage: FleetUsage = {
  isJoined: true,
  members: 3,
  owned: 4,
  changes: { gained: 9, lost: 5 },
  unshared: 1,
  disagreements: 2,
};

function read(running: { readonly usage: FleetUsage | null } | null): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fleetMetrics.map((metric) => [metric.name, metric.read(running)]));
}

test("say what this instance does in its fleet, if there is one", () => {
  assert.deepEqual(read({ usage }), {
    rolecall_fleet_up: 1,
    rolecall_fleet_members: 3,
    rolecall_fleet_owned: 4,
    rolecall_fleet_ownership_changes_total: [
      [{ change: "gained" }, 9],
      [{ change: "lost" }, 5],
    ],
    rolecall_fleet_unshared: 1,
    rolecall_fleet_disagreements: 2,
  });
  assert.equal(read({ usage: { ...usage, isJoined: false } })["rolecall_fleet_up"], 0);
  for (const running of [null, { usage: null }]) assert.deepEqual([...new Set(Object.values(read(running)))], [null]);
});
