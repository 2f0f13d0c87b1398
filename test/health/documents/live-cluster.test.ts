import assert from "node:assert/strict";
import { test } from "node:test";
import { viewAt } from "../../../src/health/evidence/leadership/cluster-view.ts";
import { fleetRow, liveCluster, type LiveCluster } from "../../../src/health/documents/live-cluster.ts";
import { steadyCluster } from "../../fake/cluster-fixture.ts";

type LiveNode = LiveCluster["nodes"][number];
type Verdict = LiveNode["verdicts"][string];

test("a row of the fleet names the primary, or the standby leader where there is no primary", () => {
  const { cluster, policy } = steadyCluster();
  const live = liveCluster(viewAt(cluster, policy, 0), { asked: [], wallMs: 0 });
  const [pg1, ...others] = live.nodes;
  assert.ok(pg1 !== undefined);
  const judged = (primary: Verdict, standbyLeader: Verdict): LiveNode => ({
    ...pg1,
    verdicts: { ...pg1.verdicts, primary, "standby-leader": standbyLeader },
  });
  const primary = judged("fit", "wrong_role");
  const standby = judged("wrong_role", "fit");
  const neither = judged("wrong_role", "wrong_role");
  const shown = (...nodes: typeof live.nodes): readonly [string | null, boolean] => {
    const row = fleetRow({ ...live, nodes });
    return [row.primary, row.is_standby_cluster];
  };
  const renamed = { ...primary, node: "pg9" };
  assert.deepEqual(shown(primary, ...others), ["pg1", false]);
  assert.deepEqual(shown(standby, ...others), ["pg1", true]);
  assert.deepEqual(shown(neither, ...others), [null, false]);
  assert.deepEqual(shown(standby, renamed), ["pg9", false]);
});

test("a fit standby leader is no replica, even if another node holds the lock", () => {
  const { cluster, policy } = steadyCluster();
  const live = liveCluster(viewAt(cluster, policy, 0), { asked: [], wallMs: 0 });
  const [, pg2, pg3] = live.nodes;
  assert.ok(pg2 !== undefined && pg3 !== undefined);
  const standby = { ...pg2, verdicts: { ...pg2.verdicts, "standby-leader": "fit" } } as const;
  assert.deepEqual([live.leader, fleetRow({ ...live, nodes: [standby, pg3] }).replicas], ["pg1", 1]);
});
