import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Attachment } from "../../../../../src/core/cluster/attachment.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { restartWindow } from "../../../../../src/core/health/evidence/attachment/attachment.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { markDiverged } from "../../../../../src/core/health/evidence/attachment/divergence.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

suite("a change of leader or timeline", () => {
  const [replica] = new ClusterFixture().cluster.nodes;
  assert.ok(replica !== undefined);
  const none = replica.attachment;
  const restarted = (attachment: Partial<Attachment>): Observation =>
    restartWindow({ ...replica, attachment: { ...none, ...attachment } }, 7_000, 4);

  test("restarts the counts of a node that is not marked, also of its reports past the switch point", () => {
    assert.deepEqual(restarted({ silentMs: 1, listedMs: 2, lowerTimelineMs: 3, pastSinceMs: 4 }).attachment, none);
    assert.deepEqual(restarted({ pastSinceMs: 4 }).attachment, none);
  });

  test("keeps the counts because of which a node is marked", () => {
    const diverged = { lowerTimelineMs: 4, pastSinceMs: 4, isOffTimeline: true };
    assert.deepEqual(restarted({ ...diverged, silentMs: 1 }).attachment, { ...none, ...diverged });
    for (const mark of ["isDetached", "isStalled"] as const) {
      const counts = { silentMs: 1, listedMs: 2, [mark]: true };
      assert.deepEqual(restarted({ ...counts, lowerTimelineMs: 3 }).attachment, { ...none, ...counts });
    }
  });

  test("restarts the time on a lower timeline of a node that only its switch point marked", () => {
    const diverged = { lowerTimelineMs: 3, pastSinceMs: 4, isOffTimeline: true };
    assert.deepEqual(restarted(diverged).attachment, { ...none, ...diverged, lowerTimelineMs: 0 });
  });

  test("counts from its own instant on", () => {
    assert.equal(restarted({}).countedAtMs, 7_000);
  });
});

test("a node past the switch point that waits for a sender list stays the same object", () => {
  const watched = new ClusterFixture();
  watched.lead("pg3", 0, { timeline: 2, xlog: { location: 5_000 } });
  watched.document("history", { of: "pg3", value: [[1, 1_000, "no recovery target specified"]] }, 0);
  watched.follow("pg2", 1_000, { xlog: { received_location: 1_001, replayed_location: 1_001 } });
  const { cluster, policy } = watched;
  assert.equal(
    markDiverged(cluster, (state) => viewAt(state, policy, 1_000)),
    cluster,
  );
});
