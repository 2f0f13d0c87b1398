import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { ClusterFixture, type FixtureOptions } from "../../../fake/cluster-fixture.ts";
import { primaryPage } from "../../../fake/exporter-page.ts";

const dcs = { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null };
const at5000 = { xlog: { location: 5_000 } };
const caughtUp = { xlog: { received_location: 5_000, replayed_location: 5_000 } };

export type Do = (watched: ClusterFixture) => void;

/** pg1 leads since long. */
export function leadsLong(watched: ClusterFixture): void {
  for (const atMs of [0, 1_000]) watched.lead("pg1", atMs, at5000);
}

/** A cluster whose leader leads as `leads` says; pg2 and pg3 have reached its position. */
export function steady(leads: Do, options: FixtureOptions): ClusterFixture {
  const watched = new ClusterFixture({
    ...options,
    policy: { intervalMs: 1_000, viewMaxAgeMs: 11_500, ...options.policy },
  });
  leads(watched);
  for (const name of ["pg2", "pg3"]) watched.follow(name, 1_000, caughtUp);
  return watched;
}

/** A reload of the configuration removes nodes without a new decision who leads. */
function setLeadership(watched: ClusterFixture, change: Partial<ClusterState["leadership"]>): void {
  watched.cluster = { ...watched.cluster, leadership: { ...watched.cluster.leadership, ...change } };
}

/** What happened before the answer, and of which nodes a repeated answer changes only ages. */
export interface Row {
  readonly given: string;
  readonly leads?: Do;
  readonly before?: Do;
  readonly options?: FixtureOptions;
  readonly nowMs?: number;
  readonly sentAtMs?: number;
  /** The names of those nodes. */
  readonly quick: string;
}

export const rows: readonly Row[] = [
  { given: "nothing happened", quick: "pg1 pg2 pg3" },
  { given: "the answer is older than the last one", sentAtMs: 999, quick: "" },
  { given: "it is as old as the last one", sentAtMs: 1_000, quick: "pg1 pg2 pg3" },
  { given: "the reports are too old", nowMs: 6_500, quick: "" },
  { given: "lag is damped", options: { policy: { guards: { lagSamples: 2 } } }, quick: "" },
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
    quick: "pg2 pg3",
  },
  {
    given: "a replica is detached",
    options: { policy: { guards: { attachWindowMs: 100 } } },
    before: (watched) => {
      for (const atMs of [1_100, 1_300])
        watched.follow("pg2", atMs, { xlog: { received_location: 4_000, replayed_location: 4_000 } });
    },
    quick: "pg1 pg3",
  },
  {
    given: "the leader moved on",
    before: (watched) => watched.lead("pg1", 1_500, { xlog: { location: 9_000 } }),
    quick: "pg1",
  },
  {
    given: "the leader went back to where a replica has stood for 1 ms",
    before: (watched) => {
      watched.lead("pg1", 1_000, { xlog: { location: 9_000 } });
      watched.follow("pg2", 1_001, caughtUp);
      watched.lead("pg1", 1_100, at5000);
    },
    quick: "pg1 pg3",
  },
  {
    given: "a replica states no timeline",
    before: (watched) => watched.follow("pg2", 1_500, { ...caughtUp, timeline: null }),
    quick: "pg1 pg3",
  },
  {
    given: "a replica has received more than the leader stated, so the two are compared",
    before: (watched) => {
      for (const atMs of [1_100, 2_100]) watched.nameLeader(null, "pg1", atMs);
      watched.follow("pg3", 2_200, { xlog: { received_location: 6_000, replayed_location: 6_000 } });
      watched.nameLeader("pg1", "pg1", 2_300);
    },
    nowMs: 2_500,
    quick: "",
  },
  {
    given: "the leader key withdrew an earlier claim of the leader, and cannot be read any more",
    options: { cluster: { dcs } },
    before: (watched) => {
      watched.readDcs("pg1", 1_100);
      watched.readDcs("pg2", 1_200);
      watched.lead("pg1", 7_000, at5000);
      watched.readDcs("unreadable", 7_100);
      watched.follow("pg2", 7_200, caughtUp);
    },
    nowMs: 7_500,
    quick: "",
  },
  {
    given: "another node claimed the lock, and is down",
    options: { policy: { fall: 1 } },
    before: (watched) => {
      watched.lead("pg3", 1_500, at5000);
      watched.fail("pg3", "timeout", 1_600);
    },
    quick: "",
  },
  {
    given: "the leader has held the lock for less than half an interval since the start",
    leads: (watched) => watched.lead("pg1", 1_600, at5000),
    quick: "",
  },
  {
    given: "the leader is known through its exporter alone, and replicas state no timeline",
    options: { nodes: [{ name: "pg1", api: null, exporter: "http://pg1:9630" }, "pg2", "pg3"] },
    leads: (watched) => {
      for (const databaseTimeS of [0, 1]) {
        const atMs = databaseTimeS * 1_000;
        const page = { ...primaryPage, databaseTimeS };
        for (const result of [{ endpoint: "up", role: "primary" } as const, { endpoint: "metrics", page } as const])
          watched.record(
            { kind: "exporter", cluster: "demo", node: "pg1", sentAtMs: atMs, sentAtWallMs: atMs, result },
            atMs,
          );
      }
    },
    before: (watched) => {
      for (const name of ["pg2", "pg3"]) watched.follow(name, 1_500, { ...caughtUp, timeline: null });
    },
    quick: "",
  },
  {
    given: "the leader was chosen against a node that has left the configuration",
    before: (watched) =>
      setLeadership(watched, { decision: { kind: "held", holder: "pg1", by: "incumbent", witnesses: [] } }),
    quick: "",
  },
  {
    given: "the lock holder has left the configuration",
    before: (watched) =>
      setLeadership(watched, { decision: { kind: "held", holder: "pg9", by: "sole", witnesses: [] } }),
    quick: "",
  },
  {
    given: "a node whose claim was refused has left the configuration",
    before: (watched) =>
      setLeadership(watched, {
        refusedClaims: new Map([["pg9", { api: "http://pg9:8008", beside: "pg1", viewSentAtMs: 0 }]]),
      }),
    quick: "",
  },
  {
    given: "the leader started anew below what a replica had replayed",
    before: (watched) => {
      const setBack = { leader: "pg1", api: "http://pg1:8008", startedAt: "then", replayed: 6_000 };
      const nodes = watched.cluster.nodes.map((known) =>
        known.node.name === "pg2" ? { ...known, attachment: { ...known.attachment, setBack } } : known,
      );
      watched.cluster = { ...watched.cluster, nodes };
    },
    quick: "pg2 pg3",
  },
  {
    given: "a node that lost its claim has left the configuration",
    before: (watched) => setLeadership(watched, { lostClaims: new Map([["pg9", { viewSentAtMs: 0, witnesses: [] }]]) }),
    quick: "",
  },
];
