import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { seenRestart } from "../../../../src/features/switchover/finish/restarted-node.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const before = "2026-11-30 04:00:00+00:00";
const after = "2026-11-30 05:00:00+00:00";

/** What is seen at 100 ms, or later, of a cluster whose nodes have reported these fields at 0. */
function seenOf(
  name: "pg1" | "pg2",
  fields: Readonly<Record<string, unknown>>,
  nowMs = 100,
): ReturnType<typeof seenRestart> {
  const fixture = new ClusterFixture({ nodes: ["pg1", "pg2"] });
  fixture.lead("pg1", 0, name === "pg1" ? fields : {});
  fixture.follow("pg2", 0, name === "pg2" ? fields : {});
  const view = viewAt(fixture.cluster, fixture.policy, nowMs);
  return seenRestart(view, { name, isLeader: name === "pg1", startedAt: before });
}

describe("how far a restart is", () => {
  for (const [title, name, fields, node, pending] of [
    ["a leader that runs as before", "pg1", { postmaster_start_time: before }, "pg1", "no"],
    ["a leader that was restarted", "pg1", { postmaster_start_time: after }, "pg1", "done"],
    ["a leader that stops", "pg1", { postmaster_start_time: before, state: "restarting" }, null, "yes"],
    ["a leader that starts", "pg1", { postmaster_start_time: undefined, state: "starting" }, null, "yes"],
    ["a leader that has come back as a replica", "pg1", { postmaster_start_time: after, role: "replica" }, null, "yes"],
    ["a replica that runs as before", "pg2", { postmaster_start_time: before }, "pg2", "no"],
    ["a replica that was restarted", "pg2", { postmaster_start_time: after }, "pg2", "done"],
    ["a replica that is stopped", "pg2", { postmaster_start_time: undefined, state: "stopped" }, null, "yes"],
  ] as const)
    test(`${title}: ${pending}`, () => assert.deepEqual(seenOf(name, fields), { node, pending }));

  test("a report that is older than 2 s does not say that a node still runs as before", () => {
    assert.equal(seenOf("pg2", { postmaster_start_time: before }, 2_100).pending, "unknown");
    assert.equal(seenOf("pg2", { postmaster_start_time: after }, 2_100).pending, "done");
  });
});
