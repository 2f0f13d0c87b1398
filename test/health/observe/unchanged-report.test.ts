import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { nodeNamed } from "../../../src/cluster/lookup.ts";
import type { StatusOutcome } from "../../../src/cluster/outcome.ts";
import type { ClusterState } from "../../../src/cluster/snapshot.ts";
import { applyStatus } from "../../../src/health/observe/apply-status.ts";
import { recordUnchanged } from "../../../src/health/observe/unchanged-report.ts";
import { ClusterFixture, type FixtureOptions } from "../../fake/cluster-fixture.ts";

const dcs = { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null };
const at5000 = { xlog: { location: 5_000 } };
const caughtUp = { xlog: { received_location: 5_000, replayed_location: 5_000 } };

/** pg1 leads since long; pg2 and pg3 have reached its position. */
function steady(options: FixtureOptions = {}): ClusterFixture {
  const watched = new ClusterFixture({
    ...options,
    policy: { intervalMs: 1_000, viewMaxAgeMs: 11_500, ...options.policy },
  });
  for (const atMs of [0, 1_000]) watched.lead("pg1", atMs, at5000);
  for (const name of ["pg2", "pg3"]) watched.follow(name, 1_000, caughtUp);
  return watched;
}

type Do = (watched: ClusterFixture) => void;

/** What happened before the answer, and of which nodes a repeated answer changes only ages. */
const rows: readonly {
  readonly given: string;
  readonly before?: Do;
  readonly options?: FixtureOptions;
  readonly nowMs?: number;
  readonly sentAtMs?: number;
  readonly quick: string;
}[] = [
  { given: "nothing happened", quick: "pg1 pg2 pg3" },
  { given: "the answer is older than the last one", sentAtMs: 999, quick: "" },
  { given: "it is as old as the last one", sentAtMs: 1_000, quick: "pg1 pg2 pg3" },
  { given: "the reports are too old", nowMs: 6_500, quick: "" },
  { given: "lag is damped", options: { policy: { guards: { lagSamples: 2 } as never } }, quick: "" },
  { given: "another node claims the lock too", before: (watched) => watched.lead("pg3", 1_500, at5000), quick: "" },
  { given: "the leader failed once", before: (watched) => watched.fail("pg1", "timeout", 1_500), quick: "" },
  { given: "a replica failed once", before: (watched) => watched.fail("pg2", "timeout", 1_500), quick: "pg1 pg3" },
  {
    given: "a node that was down answered less often than rise",
    options: { policy: { rise: 3 } },
    before: (watched) => {
      for (const atMs of [1_100, 2_100, 3_100]) watched.fail("pg2", "timeout", atMs);
      watched.follow("pg2", 3_200, caughtUp);
    },
    nowMs: 3_500,
    quick: "pg1 pg3",
  },
  { given: "a view names another node", before: (watched) => watched.nameLeader("pg3", "pg2", 1_500), quick: "" },
  {
    given: "a view names the leader",
    before: (watched) => watched.nameLeader("pg1", "pg2", 1_500),
    quick: "pg1 pg2 pg3",
  },
  {
    given: "the leader key names another node",
    options: { cluster: { dcs } },
    before: (watched) => {
      watched.readDcs("pg1", 1_100);
      watched.readDcs("pg2", 1_200);
    },
    quick: "",
  },
  {
    given: "the leader key withdrew the claim of a replica",
    options: { cluster: { dcs } },
    before: (watched) => {
      watched.readDcs("pg2", 1_100);
      watched.readDcs("pg1", 1_200);
    },
    quick: "pg1 pg3",
  },
  {
    given: "a replica is behind",
    before: (watched) => watched.follow("pg2", 1_500, { xlog: { received_location: 4_000, replayed_location: 4_000 } }),
    quick: "pg1 pg3",
  },
  {
    given: "a replica is on a lower timeline",
    before: (watched) => {
      for (const atMs of [1_500, 1_600]) watched.lead("pg1", atMs, { ...at5000, timeline: 2 });
      watched.follow("pg3", 1_700, { ...caughtUp, timeline: 2 });
    },
    quick: "",
  },
  {
    given: "a replica is on a higher timeline",
    before: (watched) => watched.follow("pg2", 1_500, { ...caughtUp, timeline: 2 }),
    quick: "pg1 pg3",
  },
  {
    given: "the leader states no position",
    before: (watched) => watched.lead("pg1", 1_500, { xlog: null }),
    quick: "",
  },
  {
    given: "the leader leads only since a moment",
    before: (watched) => {
      watched.follow("pg1", 1_500, caughtUp);
      watched.lead("pg3", 1_600, at5000);
      watched.lead("pg1", 1_700, at5000);
      watched.follow("pg3", 1_800, caughtUp);
    },
    quick: "pg1 pg2 pg3",
  },
  {
    given: "a replica is detached",
    options: { policy: { guards: { attachWindowMs: 100 } as never } },
    before: (watched) => {
      for (const atMs of [1_100, 1_300])
        watched.follow("pg2", atMs, { xlog: { received_location: 4_000, replayed_location: 4_000 } });
    },
    quick: "pg1 pg3",
  },
];

function outcomeOf(cluster: ClusterState, node: string, sentAtMs: number): StatusOutcome {
  const known = nodeNamed(cluster, node);
  if (known === undefined || known.report === null) throw new Error(`${node} has not answered`);
  const result = { report: known.report, hasLock: known.hasLock };
  return { kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs, result };
}

suite("an answer that repeats the last report only changes ages, and is recorded as by all rules, if", () => {
  for (const { given, before = () => {}, options = {}, nowMs = 2_000, sentAtMs = nowMs, quick } of rows)
    test(`${given}: ${quick === "" ? "no node" : quick}`, () => {
      const watched = steady(options);
      before(watched);
      const { cluster } = watched;
      const context = { policy: watched.policy, nowMs };
      const found = ["pg1", "pg2", "pg3"].filter((name) => {
        const outcome = outcomeOf(cluster, name, sentAtMs);
        const after = recordUnchanged(cluster, outcome, context);
        if (after !== null) assert.deepEqual(after, applyStatus(cluster, outcome, context), name);
        return after !== null;
      });
      assert.equal(found.join(" "), quick);
    });
});
