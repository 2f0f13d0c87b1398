/** Since when a node of a standby cluster is behind: its own leader, or the primary of its source (rule 4). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { OriginPosition } from "../../../../../src/core/cluster/attachment.ts";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import type { ClusterState, LeaderStatement } from "../../../../../src/core/cluster/snapshot.ts";
import { behindSince } from "../../../../../src/core/health/evidence/position/time-lag.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** A leader, as far as the lag behind it depends on it. */
interface Leader {
  /** When it had not passed 1000, which the node has replayed; `null`: that is not known. */
  readonly since: number | null;
  /** The instant at which the node's lag behind it is held; none if left out. */
  readonly heldAt?: number;
}

interface Row {
  readonly given: string;
  readonly own: Leader;
  readonly source: Leader;
  /** The positions against which the node was measured. Default: 2000, both. */
  readonly leader?: number;
  readonly origin?: OriginPosition | null;
  readonly nowMs?: number;
  readonly expected: {
    readonly since: number | null;
    readonly heldAt?: number;
    /** Infinity if left out. */
    readonly until?: number;
  };
}

function withLeader(cluster: ClusterState, { since, heldAt }: Leader): ClusterState {
  const stated: LeaderStatement | null =
    heldAt === undefined
      ? null
      : {
          by: "pg1",
          leader: "pg1",
          sentAtMs: heldAt,
          evidence: { nodes: [], index: new Map() },
          sampledAtMs: heldAt,
          countsFromMs: heldAt,
          free: null,
          isUnbroken: true,
          stoppedAtMs: null,
          returned: null,
        };
  const positionSamples = since === null ? [] : [{ atMs: since, position: 1_000 }];
  return { ...cluster, positionSamples, lastStatement: stated };
}

/** The standby cluster's evidence is fresh for 10 minutes, that of its source, of 1 s, for 10 s. */
function clustersOf({ own, source }: Pick<Row, "own" | "source">): ClusterFixture {
  const policy = { maxAgeMs: 600_000 };
  const main = new ClusterFixture({ policy });
  main.lead("pg1", 1_000, { xlog: { location: 2_000 } });
  const standby = new ClusterFixture({ policy });
  standby.document("config", { of: "pg1", value: { ttl: 1_000 } }, 0);
  standby.lead("pg1", 1_000, { role: "standby_leader", xlog: { received_location: 2_000, replayed_location: 2_000 } });
  standby.follow("pg2", 5_000);
  standby.cluster = { ...withLeader(standby.cluster, own), source: withLeader(main.cluster, source) };
  return standby;
}

const caughtUp = { highest: 1_000, isLowerBound: false };
/** From then on the source's primary, and until then its position, counts no more. */
const sourceUntilMs = 11_000;
/** Until then the hold behind the source's primary lasts: 10 s from the node's report on. */
const heldUntilMs = 15_000;

const rows: readonly Row[] = [
  {
    given: "further behind its leader, since that time",
    own: { since: 1_000 },
    source: { since: 3_000 },
    expected: { since: 1_000 },
  },
  {
    given: "further behind its source, since that time",
    own: { since: 3_000 },
    source: { since: 1_000 },
    expected: { since: 1_000 },
  },
  {
    given: "further behind its leader, with a hold, until the other lag has grown past that",
    own: { since: 1_000, heldAt: 5_000 },
    source: { since: 3_000 },
    expected: { since: 1_000, heldAt: 5_000, until: 7_000 },
  },
  {
    given: "further behind its source, with a hold, until the other lag has grown past that",
    own: { since: 3_000 },
    source: { since: 1_000, heldAt: 5_000 },
    expected: { since: 1_000, heldAt: 5_000, until: 7_000 },
  },
  {
    given: "further behind its leader, while the other lag is held",
    own: { since: 1_000 },
    source: { since: 3_000, heldAt: 5_000 },
    expected: { since: 1_000, until: heldUntilMs },
  },
  {
    given: "further behind its leader, while both are held",
    own: { since: 1_000, heldAt: 5_000 },
    source: { since: 3_000, heldAt: 5_000 },
    expected: { since: 1_000, heldAt: 5_000, until: heldUntilMs },
  },
  {
    given: "as far behind both, with a lag that grows behind its leader",
    own: { since: 2_000 },
    source: { since: 1_000, heldAt: 5_000 },
    expected: { since: 2_000, until: heldUntilMs },
  },
  {
    given: "unknown behind its leader, whatever is known of the source",
    own: { since: null },
    source: { since: 1_000, heldAt: 5_000 },
    expected: { since: null },
  },
  {
    given: "unknown behind its source",
    own: { since: 1_000 },
    source: { since: null, heldAt: 5_000 },
    expected: { since: null },
  },
  {
    given: "behind a position of the source that is known by now, until that counts no more",
    own: { since: 3_000 },
    source: { since: 1_000 },
    origin: null,
    expected: { since: 1_000, until: sourceUntilMs },
  },
  {
    given: "behind a position of the source that counts no more",
    own: { since: 3_000 },
    source: { since: 1_000 },
    origin: null,
    nowMs: sourceUntilMs,
    expected: { since: null },
  },
  {
    given: "caught up with both, while the source's primary answers",
    own: { since: 500 },
    source: { since: 1_000 },
    leader: 1_000,
    origin: caughtUp,
    nowMs: sourceUntilMs - 1,
    expected: { since: Infinity, until: sourceUntilMs },
  },
  {
    given: "caught up with both, when the source's primary does not answer any more",
    own: { since: 500 },
    source: { since: 1_000 },
    leader: 1_000,
    origin: caughtUp,
    nowMs: sourceUntilMs,
    expected: { since: 1_000, until: 601_000 },
  },
  {
    given: "at the last known position of the source's primary, which may be past it",
    own: { since: 500 },
    source: { since: 1_000 },
    leader: 1_000,
    origin: { ...caughtUp, isLowerBound: true },
    expected: { since: 1_000, until: 601_000 },
  },
  {
    given: "just behind the source's primary",
    own: { since: 500 },
    source: { since: 1_000 },
    leader: 1_000,
    origin: { ...caughtUp, highest: 1_001 },
    expected: { since: 1_000, until: 601_000 },
  },
];

suite("a node of a standby cluster is", () => {
  for (const { given, leader = 2_000, nowMs = 6_000, expected, ...row } of rows)
    test(given, () => {
      const { origin = { highest: 2_000, isLowerBound: false } } = row;
      const { cluster, policy } = clustersOf(row);
      const node = nodeNamed(cluster, "pg2");
      assert.ok(node !== undefined);
      const figures = { leader, isLowerBound: false, timeline: 1, received: 1_000, replayed: 1_000, heldUntilMs: null };
      const found = behindSince(cluster, { ...node, measured: { ...figures, origin } }, { policy, nowMs });
      const { since, heldAt, until = Infinity } = expected;
      assert.deepEqual(
        { sinceMs: found.sinceMs, heldAtMs: found.hold?.atMs, validUntilMs: found.validUntilMs },
        { sinceMs: since, heldAtMs: heldAt, validUntilMs: until },
      );
    });
});
