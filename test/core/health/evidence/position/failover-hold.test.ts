/** For how long a replica keeps its lag in time after the leader's last position (rule 4), by what others see. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import { holdBehind, holdOn } from "../../../../../src/core/health/evidence/position/failover-hold.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** A view: of which node, requested when, whom it names, and the fields of the replica's row. */
interface View {
  readonly of: string;
  readonly atMs: number;
  readonly names?: string;
  readonly lag: number;
  readonly lsn?: string;
}

/** The leader pg1 states 5000 (0/1388) at 10 s, and the replica pg2 reports the same 1 s before it is asked. */
const position = 5_000;
const statedMs = 10_000;

function clusterAt(nowMs: number, views: readonly View[], config: object | null): ClusterFixture {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2", "pg3", "pg4"] });
  for (const name of ["pg3", "pg4"]) watched.follow(name, 0);
  watched.lead("pg1", statedMs, { xlog: { location: position } });
  watched.follow("pg2", nowMs - 1_000, { xlog: { received_location: position, replayed_location: position } });
  if (config !== null) watched.document("config", { of: "pg1", value: config }, statedMs);
  for (const { of, atMs, names = "pg1", ...row } of views)
    watched.nameLeader(names, of, Math.max(atMs, statedMs), { sentAtMs: atMs, lags: { pg2: row } });
  return watched;
}

function heldUntil(
  nowMs: number,
  views: readonly View[],
  {
    config = null,
    received = position,
    isStalled = false,
  }: { config?: object | null; received?: number; isStalled?: boolean } = {},
): number | null {
  const { cluster, policy } = clusterAt(nowMs, views, config);
  const known = nodeNamed(cluster, "pg2");
  assert.ok(known !== undefined);
  const observation = { ...known, attachment: { ...known.attachment, isStalled } };
  return holdOn(cluster, { observation, received, replayed: position }, { policy, nowMs })?.untilMs ?? null;
}

/** Without news the hold ends 50 s after the statement; with a newer view the replica's report is too old before. */
const [limited, prolonged] = [60_000, 63_500];
const rows: readonly (readonly [given: string, views: readonly View[], until: number | null])[] = [
  ["no view", [], limited],
  ["a third view in which it has everything", [{ of: "pg3", atMs: 30_000, lag: 0 }], prolonged],
  ["the replica's own view", [{ of: "pg2", atMs: 30_000, lag: 0 }], limited],
  ["the leader's own view", [{ of: "pg1", atMs: 30_000, lag: 0 }], limited],
  ["a third view that names another node", [{ of: "pg3", atMs: 30_000, lag: 0, names: "pg4" }], limited],
  ["a third view in which the leader is past it", [{ of: "pg3", atMs: 30_000, lag: 100, lsn: "0/1388" }], null],
  ["one from before the statement", [{ of: "pg3", atMs: 9_000, lag: 100, lsn: "0/1388" }], limited],
  ["one that was requested with the statement", [{ of: "pg3", atMs: statedMs, lag: 100, lsn: "0/1388" }], limited],
  [
    "an older one in which the leader is past it",
    [
      { of: "pg3", atMs: 40_000, lag: 0 },
      { of: "pg4", atMs: 30_000, lag: 100, lsn: "0/1388" },
    ],
    prolonged,
  ],
  ["its old position in the DCS", [{ of: "pg3", atMs: 30_000, lag: 100, lsn: "0/1324" }], prolonged],
  ["a lag without a position, within loop_wait", [{ of: "pg3", atMs: 19_999, lag: 1 }], limited],
  ["the same after loop_wait", [{ of: "pg3", atMs: 20_000, lag: 1 }], null],
  ["no lag and no position, within loop_wait", [{ of: "pg3", atMs: 15_000, lag: 0 }], prolonged],
  ["a lag with a position, within loop_wait", [{ of: "pg3", atMs: 15_000, lag: 100, lsn: "0/1388" }], null],
];

suite("the hold of a lag in time", () => {
  for (const [given, views, until] of rows)
    test(given, () => {
      assert.equal(heldUntil(59_000, views), until);
    });

  test("the cluster's own loop_wait", () => {
    const config = { ttl: 20, loop_wait: 5, retry_timeout: 5 };
    assert.equal(heldUntil(39_000, [], { config }), 40_000);
    assert.equal(heldUntil(39_000, [{ of: "pg3", atMs: 14_999, lag: 100 }], { config }), 40_000);
    assert.equal(heldUntil(39_000, [{ of: "pg3", atMs: 15_000, lag: 100 }], { config }), null);
  });

  test("not for a replica that has not replayed all, or is stalled", () => {
    assert.equal(heldUntil(59_000, [], { received: position + 1 }), null);
    assert.equal(heldUntil(59_000, [], { isStalled: true }), null);
  });

  test("of a node of a standby cluster: the same, without views", () => {
    const nowMs = 59_000;
    const { cluster, policy } = clusterAt(nowMs, [{ of: "pg3", atMs: 30_000, lag: 0 }], null);
    const observation = nodeNamed(cluster, "pg2");
    assert.ok(observation !== undefined);
    const until = (received: number): number | null =>
      holdBehind(cluster, { observation, received, replayed: position }, { policy, nowMs })?.untilMs ?? null;
    assert.equal(until(position), limited);
    assert.equal(until(position + 1), null);
  });
});
