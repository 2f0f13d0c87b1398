/** When a cluster's nodes and documents are requested outside the schedule. */
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { test } from "node:test";
import type { LeaderDecision, Leadership } from "../../../src/core/cluster/leadership.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { notSent, TimedProber } from "../../fake/timed-prober.ts";

const probes = ["pg1/leader", "pg2/leader", "pg3/leader"];
const round = ["pg1/cluster", "pg1/leader", "pg2/cluster", "pg2/leader", "pg3/cluster", "pg3/leader"];
const views = ["pg1/cluster", "pg2/cluster", "pg3/cluster"];

/** A prober that has started. pg1 leads, and all three nodes have just answered. */
async function started(): Promise<TimedProber> {
  const timed = new TimedProber();
  timed.fixture.lead("pg1", timed.nowMs);
  for (const replica of ["pg2", "pg3"]) timed.fixture.follow(replica, timed.nowMs);
  await timed.start();
  return timed;
}

function withLeadership(change: Partial<Leadership>): (state: ClusterState) => ClusterState {
  return (state) => ({ ...state, leadership: { ...state.leadership, ...change } });
}

const unclaimed = (lastHolder: string | null): LeaderDecision => ({ kind: "unclaimed", lastHolder });

/** The state after a node's cluster document that names `names`. */
function withView(timed: TimedProber, witness: string, names: string | null): (state: ClusterState) => ClusterState {
  return () => {
    timed.fixture.nameLeader(names, witness, timed.nowMs);
    return timed.fixture.cluster;
  };
}

test("a change of nothing requests nothing", async () => {
  const timed = await started();
  assert.deepEqual(await timed.requestedBy((state) => ({ ...state })), []);
});

test("a round follows another one after 250 ms", async () => {
  const timed = await started();
  timed.prober.requestRound();
  await timed.pass(0);
  assert.deepEqual(timed.requests(), round);
  timed.prober.requestRound();
  timed.prober.requestRound();
  await timed.pass(249);
  assert.deepEqual(timed.requests(), []);
  await timed.pass(1);
  assert.deepEqual(timed.requests(), probes, "the next requests of views follow a second after the last ones");
});

test("a round requests documents if any of those that asked for it wanted them", async () => {
  const contradicted = (timed: TimedProber): void => {
    const before = timed.fixture.cluster;
    timed.prober.onChange(before, withView(timed, "pg3", "pg2")(before));
  };
  for (const [ask, expected] of [
    [(timed: TimedProber) => [contradicted(timed), timed.prober.requestRound()], round],
    [(timed: TimedProber) => [timed.prober.requestRound(), contradicted(timed)], round],
    [contradicted, probes],
  ] as const) {
    const timed = await started();
    timed.skip(1);
    ask(timed);
    await timed.pass(250);
    assert.deepEqual(timed.requests(), expected);
  }
});

test("a round is requested when the holder of the lock, or the last one, is another", async () => {
  const held: LeaderDecision = { kind: "held", holder: "pg1", by: "sole", witnesses: [] };
  const contested: LeaderDecision = { kind: "contested", between: ["pg1", "pg2"] };
  for (const [before, after, isOther] of [
    [held, { ...held, by: "views" }, false],
    [held, unclaimed("pg1"), true],
    [unclaimed("pg1"), contested, true],
    [contested, { kind: "lost" }, false],
    [unclaimed("pg1"), unclaimed("pg2"), true],
  ] as const) {
    const timed = await started();
    timed.fixture.cluster = withLeadership({ decision: before })(timed.fixture.cluster);
    const requests = await timed.requestedBy(withLeadership({ decision: after }));
    // A state without a holder begins a burst, which probes the nodes, too.
    const documents = requests.filter((request) => request.endsWith("/cluster"));
    assert.deepEqual(documents, isOther ? views : [], `${before.kind} ${after.kind}`);
  }
});

test("a round is requested when the leader's timeline or the claims change, not when one becomes known", async () => {
  const { position } = (await started()).fixture.cluster;
  assert.ok(position !== null);
  for (const [change, expected] of [
    [{ position: null }, []],
    [{ position: { ...position, timeline: 2 } }, round],
    [{ lockClaims: [0] }, round],
  ] as const) {
    const timed = await started();
    assert.deepEqual(await timed.requestedBy((state) => ({ ...state, ...change })), expected);
    timed.fixture.cluster = { ...timed.fixture.cluster, position: null };
    assert.deepEqual(await timed.requestedBy((state) => ({ ...state, position })), []);
  }
});

test("a new view that contradicts the lock holder requests probes of all nodes, and no documents", async () => {
  const timed = await started();
  assert.deepEqual(await timed.requestedBy(withView(timed, "pg2", "pg1")), []);
  assert.deepEqual(await timed.requestedBy(withView(timed, "pg3", "pg2")), probes);
  await timed.pass(250);
  timed.skip(1);
  assert.deepEqual(await timed.requestedBy(withView(timed, "pg2", "pg1")), [], "the view of pg3 is not new");
  timed.skip(1);
  assert.deepEqual(await timed.requestedBy(withView(timed, "pg2", null)), probes);
});

test("while nobody holds the lock a view requests nothing", async () => {
  const timed = await started();
  timed.fixture.cluster = withLeadership({ decision: unclaimed("pg1") })(timed.fixture.cluster);
  timed.prober.hint(null);
  await timed.pass(250);
  timed.requests();
  const named = withView(timed, "pg3", "pg2");
  assert.deepEqual(await timed.requestedBy((state) => ({ ...named(state), leadership: state.leadership })), []);
});

test("while several nodes claim the lock, or the only claim is lost, a change requests all views", async () => {
  const loss = { viewSentAtMs: 1_000, witnesses: ["pg2"] };
  const disputes: readonly ((timed: TimedProber) => void)[] = [
    ({ fixture, nowMs }) => fixture.lead("pg2", nowMs),
    ({ fixture }) => {
      fixture.cluster = withLeadership({ decision: { kind: "lost" }, lostClaims: new Map([["pg1", loss]]) })(
        fixture.cluster,
      );
    },
  ];
  for (const dispute of disputes) {
    const timed = await started();
    dispute(timed);
    assert.deepEqual(await timed.requestedBy((state) => ({ ...state })), views);
  }
});

test("a change requests all views while a claim is refused", async () => {
  const refused = { api: "http://pg2:8008", beside: "pg1", viewSentAtMs: 1_000 };
  const timed = await started();
  timed.fixture.cluster = withLeadership({ refusedClaims: new Map([["pg2", refused]]) })(timed.fixture.cluster);
  assert.deepEqual(await timed.requestedBy((state) => ({ ...state })), views);
});

test("a change requests all views while the guard survive may keep a silent claim, however short it is", async () => {
  for (const [surviveMs, silentMs, isRequested] of [
    [0, 0, false],
    [1, 0, true],
    [1, 1, false],
  ] as const) {
    const timed = new TimedProber(["pg1", "pg2", "pg3"], [], { guards: { surviveMs } });
    for (const replica of ["pg2", "pg3"]) timed.fixture.follow(replica, timed.nowMs);
    await timed.start();
    timed.fixture.lead("pg1", timed.nowMs);
    timed.fixture.fail("pg1", "timeout", timed.nowMs);
    timed.skip(silentMs);
    const requests = await timed.requestedBy((state) => ({ ...state }));
    assert.deepEqual(requests, isRequested ? views : [], `${surviveMs} ms`);
  }
});

test("a hint for the whole cluster requests a round if it begins a burst, a hint for a node never does", async () => {
  const timed = await started();
  assert.equal(timed.prober.hint("pg2"), "begun");
  await timed.pass(0);
  assert.deepEqual(timed.requests(), ["pg2/leader"]);
  assert.equal(timed.prober.hint(null), "begun");
  await timed.pass(0);
  assert.deepEqual([...new Set(timed.requests())], round);
  assert.deepEqual(timed.reported, [1, 3]);
  const other = await started();
  other.prober.hint(null);
  await other.pass(1_000);
  other.requests();
  assert.equal(other.prober.hint(null), "running");
  await other.pass(0);
  assert.deepEqual(other.requests(), []);
});

test("a burst counts no probe of a node whose probe is in flight", async () => {
  const timed = await started();
  timed.respond = (url) => (url.includes("pg2") ? new Promise(() => {}) : notSent);
  timed.prober.requestRound();
  await timed.pass(0);
  timed.requests();
  timed.prober.hint(null);
  timed.prober.hint("pg2");
  await timed.pass(0);
  assert.deepEqual(timed.reported, [2, 0]);
});

test("a burst of a large cluster probes four nodes at a time, 4 ms apart, and none any more once it is stopped", async () => {
  const large = async (): Promise<TimedProber> => {
    const timed = new TimedProber(Array.from({ length: 9 }, (_, at) => `pg${at + 1}`));
    timed.fixture.lead("pg1", timed.nowMs);
    for (let at = 2; at <= 9; at += 1) timed.fixture.follow(`pg${at}`, timed.nowMs);
    await timed.start();
    // The hint requests a round, too: its probes are those of the burst.
    timed.prober.hint(null);
    return timed;
  };
  const timed = await large();
  const reported: number[][] = [];
  for (const ms of [0, 3, 1, 4, 10]) {
    timed.reported.length = 0;
    await timed.pass(ms);
    reported.push([...timed.reported]);
  }
  assert.deepEqual(reported, [[4], [], [4], [1], []]);
  const stopped = await large();
  await stopped.pass(0);
  stopped.prober.stop();
  stopped.reported.length = 0;
  await stopped.pass(20);
  assert.deepEqual(stopped.reported, []);
});

test("a stopped prober opens no connection, sets no timer and requests nothing", async () => {
  const timed = await started();
  timed.prober.stop();
  timed.opened.length = 0;
  const { cluster } = new TimedProber(["pg1", "pg4"]).fixture;
  assert.deepEqual(await timed.requestedBy(() => ({ ...cluster, lockClaims: [0, 1] })), []);
  assert.deepEqual(await timed.requestedBy(withLeadership({ decision: unclaimed("pg1") })), []);
  timed.prober.requestRound();
  timed.prober.hint(null);
  assert.deepEqual([timed.opened, timed.timers, timed.requests()], [[], 0, []]);
});

test("a pause is followed by one round: after a stall what is in flight is not sent again, after a suspension it is", async () => {
  for (const [pause, leaders] of [
    ["stalled", 0],
    ["suspended", 1],
  ] as const) {
    const timed = await started();
    const answers: (() => void)[] = [];
    timed.respond = () => new Promise((resolve) => answers.push(() => resolve(notSent)));
    timed.prober.requestRound();
    await timed.pass(0);
    timed.requests();
    const caughtUp = timed.prober.catchUp(pause);
    assert.deepEqual(timed.requests(), [], "who finds the pause has only read the clock");
    await timed.pass(0);
    assert.deepEqual(timed.requests(), [], "what is in flight is awaited");
    for (const answer of answers.splice(0)) answer();
    await nextTurn();
    await timed.pass(0);
    const again = timed.requests().filter((request) => request === "pg1/leader");
    assert.equal(again.length, leaders, pause);
    timed.respond = () => notSent;
    for (const answer of answers.splice(0)) answer();
    await caughtUp;
  }
});
