import assert from "node:assert/strict";
import { test } from "node:test";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import {
  clusterRow,
  liveCluster,
  oldestReportMs,
  type ClusterRow,
  type LiveCluster,
} from "../../../../src/core/health/documents/live-cluster.ts";
import { defaultGuards } from "../../../../src/core/health/guards.ts";
import { steadyCluster } from "../../../fake/cluster-fixture.ts";

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
    const row = clusterRow({ ...live, nodes });
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
  assert.deepEqual([live.leader, clusterRow({ ...live, nodes: [standby, pg3] }).replicas], ["pg1", 1]);
});

/** The cluster of the rows below: pg1 leads, and the nodes are those that a row has. */
function liveOf(leader: string | null, nodes: readonly ShownNode[]): LiveCluster {
  const { cluster, policy } = steadyCluster();
  const live = liveCluster(viewAt(cluster, policy, 0), { asked: [], wallMs: 0 });
  const [, pg2] = live.nodes;
  assert.ok(pg2 !== undefined);
  const verdicts = { ...pg2.verdicts, primary: "wrong_role", "standby-leader": "wrong_role" } as const;
  const well = { ...pg2, verdicts, reason: null, detail: null, lag_bytes: 0, lag_ms: 0, condition: "ok" } as const;
  return { ...live, leader, nodes: nodes.map((node) => ({ ...well, ...node })) };
}

type ShownNode = Partial<LiveNode> & Pick<LiveNode, "node">;

const primaryVerdicts = { primary: "fit", "standby-leader": "wrong_role" } as const;
const out = { condition: "unfit", reason: "down", detail: "refused" } as const;
const tooLate = { check: "/replica?lag=1MB", pool: null, reason: "lagging", detail: "2MB" } as const;
const drain = {
  all: false,
  distrust: false,
  reason: "new disk",
  by: null,
  since: "2026-01-31T04:50:00.000Z",
  until: "2026-01-31T05:50:00.000Z",
  remaining_ms: 3_600_000,
};

interface Row {
  readonly title: string;
  readonly leader?: string | null;
  readonly nodes: readonly ShownNode[];
  readonly row: Partial<ClusterRow>;
}

const rows: readonly Row[] = [
  {
    title: "nodes that are well",
    nodes: [{ node: "pg1", verdicts: primaryVerdicts }, { node: "pg2" }, { node: "pg3" }],
    row: { nodes: 3, replicas: 2, replicas_fit: 2, rivals: 0, drains: 0, warnings: 0, problems: [], problem_count: 0 },
  },
  {
    title: "a primary that is fit without a leader is no replica",
    leader: null,
    nodes: [{ node: "pg1", verdicts: primaryVerdicts }, { node: "pg2" }],
    row: { primary: "pg1", replicas: 1 },
  },
  {
    title: "a leader that is not fit is no replica",
    nodes: [{ node: "pg1", ...out }, { node: "pg2" }],
    row: { primary: null, replicas: 1, problems: [{ node: "pg1", reason: "down", detail: "refused" }] },
  },
  {
    title: "the highest lag, of replicas that were heard",
    nodes: [
      { node: "pg1", verdicts: primaryVerdicts, lag_bytes: 99, lag_ms: 99 },
      { node: "pg2", lag_bytes: 7, lag_ms: 2 },
      { node: "pg3", lag_bytes: 5, lag_ms: 3 },
      { node: "pg4", lag_bytes: null, lag_ms: null },
      { node: "pg5", lag_bytes: 99, lag_ms: 99, evidence: "last known" },
    ],
    row: { lag_bytes: 7, lag_ms: 3 },
  },
  {
    title: "a lag that nobody knows",
    nodes: [
      { node: "pg1", verdicts: primaryVerdicts },
      { node: "pg2", lag_bytes: null, lag_ms: null },
    ],
    row: { lag_bytes: null, lag_ms: null },
  },
  {
    title: "drains, warnings and rivals",
    nodes: [
      { node: "pg1", verdicts: primaryVerdicts },
      { node: "pg2", condition: "drained", drain, reason: "drained" },
      { node: "pg3", condition: "drained", drain, reason: "drained" },
      { node: "pg4", condition: "warning", warning: "has not advanced for 6 s" },
      { node: "pg5", ...out, verdicts: { primary: "superseded" } },
    ],
    row: { replicas: 4, replicas_fit: 1, rivals: 1, drains: 2, warnings: 1, problem_count: 1 },
  },
  {
    title: "the leader comes first, three are named and all are counted",
    nodes: [
      { node: "pg2", ...out },
      { node: "pg3", ...out, reason: "stale", detail: null },
      { node: "pg1", ...out },
      { node: "pg4", ...out },
    ],
    row: {
      problems: [
        { node: "pg1", reason: "down", detail: "refused" },
        { node: "pg2", reason: "down", detail: "refused" },
        { node: "pg3", reason: "stale", detail: null },
      ],
      problem_count: 4,
    },
  },
  {
    title: "a node that is fit, and that all checks of balancers refuse",
    nodes: [
      { node: "pg1", verdicts: primaryVerdicts },
      { node: "pg2", condition: "unfit", refused: [tooLate, { ...tooLate, detail: "3MB" }] },
    ],
    row: { problems: [{ node: "pg2", reason: "lagging", detail: "2MB" }], replicas_fit: 0 },
  },
];

for (const { title, leader = "pg1", nodes, row } of rows)
  test(`a row of the fleet: ${title}`, () => {
    const found = clusterRow(liveOf(leader, nodes));
    const stated = Object.keys(row) as readonly (keyof ClusterRow)[];
    assert.deepEqual(Object.fromEntries(stated.map((field) => [field, found[field]])), row);
  });

test("the oldest last report, whatever the order; null before the first one", () => {
  const aged = (...ages: readonly (number | null)[]): number | null =>
    oldestReportMs(
      liveOf(
        "pg1",
        ages.map((age, index) => ({ node: `pg${index}`, age_ms: age })),
      ),
    );
  assert.deepEqual([aged(5, 7, null), aged(7, 5), aged(null, 7), aged(null, null), aged()], [7, 7, 7, null, null]);
});

test("a node's position is what a primary has written, and what a replica has replayed", () => {
  const { cluster, policy } = steadyCluster();
  const { nodes } = liveCluster(viewAt(cluster, policy, 0), { asked: [], wallMs: 0 });
  assert.deepEqual(
    nodes.map(({ position }) => position),
    [50_000_000, 37_417_088, null],
  );
});

test("the guards that are off are named as in the configuration", () => {
  const offOf = (...off: readonly (keyof typeof defaultGuards)[]): readonly string[] => {
    const { cluster, policy } = steadyCluster();
    const guards = { ...defaultGuards, ...Object.fromEntries(off.map((guard) => [guard, false])) };
    return liveCluster(viewAt(cluster, { ...policy, guards }, 0), { asked: [], wallMs: 0 }).guards_off;
  };
  assert.deepEqual(offOf(), []);
  assert.deepEqual(offOf("attachedReplica"), ["attached_replica"]);
  assert.deepEqual(offOf("failoverHold", "exclusivePrimary"), ["exclusive_primary", "failover_hold"]);
});
