/** When the mark of the claim of pg2, refused beside pg1, ends (rule 2): view by view. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { RefusedClaim } from "../../../../../src/core/cluster/leadership.ts";
import type { Observation } from "../../../../../src/core/cluster/observation.ts";
import { continuingRefusals } from "../../../../../src/core/health/evidence/leadership/refused-claims.ts";
import type { ClusterFixture, FixtureOptions } from "../../../../fake/cluster-fixture.ts";
import { played, type Step } from "../../../../fake/scenario.ts";
import { api, claims, four, idles, policy, views } from "./refusal-steps.ts";

function withNode(watched: ClusterFixture, name: string, change: (node: Observation) => Partial<Observation>): void {
  const { cluster } = watched;
  const nodes = cluster.nodes.map((one) => (one.node.name === name ? { ...one, ...change(one) } : one));
  watched.cluster = { ...cluster, nodes };
}

interface Continuing {
  readonly given: string;
  /** After pg2 claimed the lock, and pg3 answered without getting WAL, both at 0 s. */
  readonly steps?: readonly Step[];
  readonly options?: FixtureOptions;
  readonly mark?: Partial<RefusedClaim>;
  readonly change?: (watched: ClusterFixture) => void;
  /** An instant in seconds at which it is marked, and one at which it is not any more. */
  readonly markedAt?: number;
  readonly endedAt?: number;
}

/** pg3 names pg1 at 5 s. pg1 is not a fixed node; the view has it at `namesAt`. */
function discovered(watched: ClusterFixture, namesAt: string | null, isFixed = false): void {
  withNode(watched, "pg1", ({ node }) => ({ node: { ...node, isFixed } }));
  const { cluster } = watched;
  const leaderViews = new Map([...cluster.leaderViews].map(([witness, view]) => [witness, { ...view, namesAt }]));
  watched.cluster = { ...cluster, leaderViews };
}

const stranger = { name: "pg9", role: "leader", state: "running", api_url: "http://pg9:8008/patroni" };
const more = { received_location: 2_000, replayed_location: 1_000 };
const denied = [idles(2, "pg1"), views(5, { pg3: "pg1" }), idles(6, "pg1")];
const exporterOfPg3 = {
  nodes: ["pg1", "pg2", { name: "pg3", api: "http://pg3:8008", exporter: "http://pg3:9630" }],
  policy: { pageMaxAgeMs: 20_000 },
};
const page = (at: number, isStreaming: boolean, databaseTimeS = at): Step => ({
  at,
  shows: "pg3",
  page: { isInRecovery: true, databaseTimeS, receiver: { host: "pg1", port: 5432, isStreaming } },
});

const continuing: readonly Continuing[] = [
  { given: "a third view names the leader", steps: [views(2, { pg3: "pg1" })], markedAt: 2.1 },
  { given: "the claimant has another address", steps: [views(2, { pg3: "pg1" })], mark: { api: "x" }, endedAt: 2.1 },
  {
    given: "a newer third view names the claimant, although another one counts",
    steps: [idles(0, "pg4"), views(2, { pg4: "pg1" }), views(3, { pg3: "pg2" })],
    options: four,
    endedAt: 3.1,
  },
  {
    given: "a third view that is as old as the mark names the claimant",
    steps: [idles(0, "pg4"), views(2, { pg4: "pg1", pg3: "pg2" })],
    options: four,
    mark: { viewSentAtMs: 2_000 },
    markedAt: 2.1,
  },
  {
    given: "a third view that is older than the mark names the claimant",
    steps: [idles(0, "pg4"), views(1.5, { pg3: "pg2" }), views(2, { pg4: "pg1" })],
    options: four,
    mark: { viewSentAtMs: 2_000 },
    markedAt: 2.1,
  },
  {
    given: "the only third view is older than the mark and names the claimant, and the next one failed",
    steps: [views(1, { pg3: "pg2" }), views(3, { pg3: "none" })],
    mark: { viewSentAtMs: 2_000 },
    endedAt: 3.1,
  },
  { given: "a third view names its own node", steps: [views(2, { pg3: "pg3" })], endedAt: 2.1 },
  { given: "a third view names nobody", steps: [views(2, { pg3: null }), views(5, { pg3: null })], markedAt: 5.1 },
  {
    given: "one names nobody during a pause",
    steps: [claims(2, { pause: true }), views(2, { pg3: null })],
    markedAt: 2,
  },
  {
    given: "two in a row name nobody during a pause",
    steps: [claims(2, { pause: true }), views(2, { pg3: null }), views(5, { pg3: null })],
    endedAt: 5,
  },
  {
    given: "two in a row name nobody in failsafe mode",
    steps: [claims(2, { failsafe_mode_is_active: true }), views(2, { pg3: null }), views(5, { pg3: null })],
    endedAt: 5,
  },
  // `ttl` and `loop_wait` are 30 s and 10 s.
  {
    given: "a third view names a node that never answered since the start",
    steps: [idles(39), views(39, { pg3: "pg1" })],
    markedAt: 39.999,
    endedAt: 40,
  },
  {
    given: "a third view names a node that is unknown",
    steps: [idles(39), { at: 39, document: "cluster", of: "pg3", says: { scope: "demo", members: [stranger] } }],
    markedAt: 39.999,
    endedAt: 40,
  },
  {
    given: "a third view names a leader that is silent",
    steps: [{ at: 0.5, leads: "pg1" }, idles(40), views(40, { pg3: "pg1" })],
    markedAt: 40.499,
    endedAt: 40.5,
  },
  {
    given: "the witness streams by its report",
    steps: [{ at: 55, follows: "pg3" }, views(56, { pg3: "pg1" })],
    markedAt: 60.499,
    endedAt: 60.5,
  },
  {
    given: "the witness has received more since its view before",
    steps: [idles(53), views(53, { pg3: "pg1" }), idles(56, "pg3", { xlog: more }), views(56, { pg3: "pg1" })],
    markedAt: 60,
  },
  {
    given: "the witness streams by its exporter",
    steps: [idles(55), page(54, true), page(55, true), views(56, { pg3: "pg1" })],
    options: exporterOfPg3,
    markedAt: 60,
  },
  {
    given: "the witness does not stream by its exporter",
    steps: [idles(55), page(54, false), page(55, false), views(56, { pg3: "pg1" })],
    options: exporterOfPg3,
    endedAt: 60,
  },
  {
    given: "the witness streamed by its exporter, and its database's clock stands still",
    steps: [idles(55), page(54, true, 1), page(55, true, 1), views(56, { pg3: "pg1" })],
    options: exporterOfPg3,
    endedAt: 60,
  },
  { given: "the named node has denied it since", steps: denied, markedAt: 7.999, endedAt: 8 },
  {
    given: "the named node denies it after two views in a row",
    steps: [idles(2, "pg1"), views(5, { pg3: "pg1" }), idles(6, "pg1"), views(8, { pg3: "pg1" }), idles(9, "pg1")],
    endedAt: 9,
  },
  {
    given: "the named node denied it when the view was answered, not after it",
    steps: [idles(2, "pg1"), views(5, { pg3: "pg1" }), idles(5, "pg1")],
    markedAt: 9,
  },
  {
    given: "our node denies it, at the address in the view",
    steps: denied,
    change: (watched) => discovered(watched, "http://pg1:8008"),
    endedAt: 9,
  },
  {
    given: "our node denies it, and the view has no address",
    steps: denied,
    change: (watched) => discovered(watched, null),
    endedAt: 9,
  },
  {
    given: "our node denies it, and the view has another address",
    steps: denied,
    change: (watched) => discovered(watched, "x"),
    markedAt: 9,
  },
  {
    given: "a fixed node denies it, at another address",
    steps: denied,
    change: (watched) => discovered(watched, "x", true),
    endedAt: 9,
  },
];

const awaiting: readonly Continuing[] = [
  { given: "the third node answers", steps: [idles(12)], markedAt: 12.499, endedAt: 12.5 },
  {
    given: "the third node gave no view before the claim appeared",
    steps: [views(5, { pg3: "none" }), idles(20), claims(20)],
    mark: { viewSentAtMs: 0 },
    markedAt: 21,
  },
  { given: "its view failed with the mark", steps: [views(1, { pg3: "none" })], markedAt: 1.5 },
  { given: "its view failed after the mark", steps: [views(1.001, { pg3: "none" })], endedAt: 1.5 },
  { given: "the leader gave no view yet", steps: [idles(1, "pg1"), views(2, { pg3: "none" })], endedAt: 2 },
  {
    given: "the third node has no API",
    options: { nodes: ["pg1", "pg2", { name: "pg3", api: null, exporter: "http://pg3:9630" }] },
    endedAt: 2,
  },
  {
    given: "another third node never answered in this run",
    steps: [views(5, { pg3: "none" })],
    options: four,
    mark: { viewSentAtMs: 4_000 },
    markedAt: 11.499,
    endedAt: 11.5,
  },
  {
    given: "another third node never answered in this run, and the mark is older than this process",
    steps: [views(5, { pg3: "none" })],
    options: four,
    mark: { viewSentAtMs: -4_000 },
    change: (watched) => withNode(watched, "pg2", () => ({ claimedSinceMs: -4_000 })),
    markedAt: 7.499,
    endedAt: 7.5,
  },
  { given: "the third node failed once", steps: [{ at: 1.5, fails: "pg3", by: "timeout" }], endedAt: 2 },
  {
    given: "the third node is down, and has answered once since",
    change: (watched) => withNode(watched, "pg3", () => ({ isDown: true })),
    endedAt: 2,
  },
  {
    given: "the third node is of another cluster",
    steps: [idles(1, "pg3", { patroni: { version: "4.1.4", scope: "other", name: "pg3" } })],
    endedAt: 2,
  },
];

function continues({ steps = [], options = {}, mark = {}, change }: Continuing, atS: number): boolean {
  const hasApi = !(options.nodes ?? []).some((node) => typeof node === "object" && node.api === null);
  const first: Step = hasApi ? idles(0) : { at: 0, shows: "pg3", role: "replica" };
  const watched = played({
    ...options,
    policy: { ...policy, ...options.policy },
    steps: [claims(0), first, ...steps],
  });
  change?.(watched);
  const marks = new Map([["pg2", { api, beside: "pg1", viewSentAtMs: 1_000, ...mark }]]);
  const cluster = { ...watched.cluster, leadership: { ...watched.cluster.leadership, refusedClaims: marks } };
  const after = continuingRefusals(cluster, { policy: watched.policy, nowMs: atS * 1_000 });
  if (after.has("pg2")) assert.equal(after, marks, "the same map");
  return after.has("pg2");
}

/** rolecall stands still, or gets little of a processor: it asks no node for its view, and none has failed. */
const late: readonly Continuing[] = [
  {
    given: "the last view is too old, and so is the claim: pg3 is heard first",
    steps: [views(2, { pg3: "pg1" }), idles(15)],
    markedAt: 15.1,
  },
  {
    given: "the same, and then the claim is heard again: it is a new one, and is awaited anew",
    steps: [views(2, { pg3: "pg1" }), idles(15), ...[15.1, 20, 25].map((at) => claims(at)), idles(25)],
    markedAt: 26.5,
    endedAt: 26.7,
  },
  {
    given: "the claim goes on, and the last view is too old: it is awaited for as long again",
    steps: [views(2, { pg3: "pg1" }), ...[5, 10, 13, 18, 23].map((at) => claims(at)), idles(23)],
    markedAt: 24.9,
    endedAt: 25.1,
  },
  {
    given: "the last view becomes too old at this instant",
    steps: [views(2, { pg3: "pg1" }), ...[5, 10, 13].map((at) => claims(at)), idles(13)],
    mark: { viewSentAtMs: 2_000 },
    markedAt: 13.5,
  },
  {
    given: "the last view has been too old for as long as a view counts",
    steps: [views(2, { pg3: "pg1" }), ...[5, 10, 13, 18, 23].map((at) => claims(at)), idles(23)],
    markedAt: 24.999,
    endedAt: 25,
  },
  {
    given: "the claimant never answered in this run, so that no claim is late",
    steps: [views(2, { pg3: "pg1" }), idles(23)],
    change: (watched) => withNode(watched, "pg2", () => ({ report: null, sentAtMs: -Infinity, claimedSinceMs: null })),
    markedAt: 24.999,
    endedAt: 25,
  },
  {
    given: "the view that was awaited fails",
    steps: [views(2, { pg3: "pg1" }), claims(5), claims(10), claims(13), idles(13), views(14, { pg3: "none" })],
    endedAt: 14.1,
  },
  {
    given: "a request has failed before the last view became too old",
    steps: [views(2, { pg3: "pg1" }), views(5, { pg3: "none" }), claims(5), claims(10), claims(13), idles(13)],
    endedAt: 13.6,
  },
  {
    given: "the third node does not answer",
    steps: [views(2, { pg3: "pg1" }), claims(5), claims(10), { at: 13, fails: "pg3", by: "timeout" }, claims(13)],
    endedAt: 13.6,
  },
];

suite("a marked claim", () => {
  for (const [about, rows] of [
    ["", continuing],
    ["rolecall is late: ", late],
    ["awaiting a view: ", awaiting],
  ] as const)
    for (const row of rows)
      test(`${about}${row.given}`, () => {
        if (row.markedAt !== undefined) assert.equal(continues(row, row.markedAt), true, `at ${row.markedAt} s`);
        if (row.endedAt !== undefined) assert.equal(continues(row, row.endedAt), false, `at ${row.endedAt} s`);
      });
});
