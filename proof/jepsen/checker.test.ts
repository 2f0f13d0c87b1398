/** The checker finds each kind of broken promise in a history made for it, and passes the mirror image. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bounds } from "./check/bounds.ts";
import { check } from "./check/check.ts";
import type { FloorReadEvent, HistoryEvent, ReadEvent, RecoveryEvent, WriteEvent } from "./history.ts";

/** p1 holds the lock from the start; the DCS gives it to p2 between 100.0 s and 100.2 s. */
const grants: readonly HistoryEvent[] = [
  { type: "lock", revision: 5, holder: "p1" },
  { type: "lock", revision: 19, holder: null },
  { type: "lock", revision: 20, holder: "p2" },
  { type: "tick", revision: 10, sentAtMs: 1_000, acknowledgedAtMs: 1_010 },
  { type: "tick", revision: 18, sentAtMs: 100_000, acknowledgedAtMs: 100_010 },
  { type: "tick", revision: 22, sentAtMs: 100_190, acknowledgedAtMs: 100_200 },
];
const movedAtMs = 100_200;

function write(openedAtMs: number, more: Partial<WriteEvent> = {}): WriteEvent {
  return {
    type: "write",
    writer: "a",
    seq: 1,
    balancer: "b1",
    port: 40_000,
    openedAtWallMs: openedAtMs,
    openedAtMs,
    isNewSession: true,
    beganAtMs: openedAtMs + 5,
    endedAtMs: openedAtMs + 10,
    outcome: "acknowledged",
    node: "p1",
    ...more,
  };
}

function read(beganAtMs: number, seen: ReadEvent["seen"]): ReadEvent {
  const at = { openedAtWallMs: beganAtMs, beganAtMs, endedAtMs: beganAtMs + 10 };
  return { type: "read", balancer: "b1", port: 40_001, node: "p2", seen, ...at };
}

function route(port: number, pool: string, acceptedAtWallMs: number): HistoryEvent {
  return { type: "route", balancer: "b1", port, pool, server: "pg1", acceptedAtWallMs };
}

const floorRead: FloorReadEvent = {
  type: "floor-read",
  session: "s",
  beganAtMs: 5_000,
  endedAtMs: 5_010,
  node: "p2",
  floor: "1@0/3000148",
  owed: { a: 3, b: 7 },
  seen: { a: 3, b: 7 },
  upForMs: 60_000,
};

const recovery: RecoveryEvent = {
  type: "recovery",
  healedAtMs: 100_000,
  wholeAtMs: 110_000,
  fitAtMs: 112_000,
  servedAtMs: 113_000,
  ended: [],
  survivors: { a: [1, 2] },
};

function promisesBroken(...history: readonly HistoryEvent[]): readonly string[] {
  return check(history).violations.map(({ promise }) => promise);
}

describe("the checker of histories", () => {
  test("finds a write that the old holder acknowledges after the bound", () => {
    const late = movedAtMs + bounds.writeMs + 1;
    assert.deepEqual(promisesBroken(...grants, write(late), route(40_000, "demo_write", late)), ["write"]);
  });

  test("passes the same write within the bound, and the new holder's at any time", () => {
    const inTime = movedAtMs + bounds.writeMs - 1;
    assert.deepEqual(promisesBroken(...grants, write(inTime), route(40_000, "demo_write", inTime)), []);
    const late = movedAtMs + 60_000;
    const byNew = write(late, { node: "p2" });
    assert.deepEqual(promisesBroken(...grants, byNew, route(40_000, "demo_write", late)), []);
  });

  test("passes the old holder's write if the lock only expired", () => {
    const expired = grants.filter((event) => !(event.type === "lock" && event.revision === 20));
    assert.deepEqual(promisesBroken(...expired, write(190_000), route(40_000, "demo_write", 190_000)), []);
  });

  test("finds a write of a node that never held the lock", () => {
    const stray = write(50_000, { node: "p3" });
    assert.deepEqual(promisesBroken(...grants, stray, route(40_000, "demo_write", 50_000)), ["write"]);
  });

  test("counts late writes of the fallback, of kept sessions and of the control group apart", () => {
    const late = movedAtMs + 60_000;
    const { violations, counts } = check([
      ...grants,
      write(late),
      route(40_000, "demo_write_direct", late),
      write(late, { isNewSession: false }),
      write(late, { balancer: null, port: null }),
    ]);
    assert.deepEqual(violations, []);
    assert.equal(counts["writes by the fallback: acknowledged too late"], 1);
    assert.equal(counts["writes on kept sessions: acknowledged too late"], 1);
    assert.equal(counts["writes straight to a node: acknowledged too late"], 1);
  });

  test("does not take the session of another time on the same port for this one", () => {
    const late = movedAtMs + bounds.writeMs + 1;
    const history = [...grants, write(late), route(40_000, "demo_write_direct", late - 9_000)];
    assert.deepEqual(promisesBroken(...history), []);
    assert.equal(check(history).counts["writes that HAProxy did not log: acknowledged"], 1);
    assert.deepEqual(promisesBroken(...history, route(40_000, "demo_write", late + 1)), ["write"]);
  });

  test("finds a read that misses a surviving write after the bound, and passes it before", () => {
    const acknowledged = write(1_000, { seq: 2 });
    const lateMs = 1_010 + bounds.readMs;
    const of = (atMs: number, seen: ReadEvent["seen"]): readonly HistoryEvent[] => [
      acknowledged,
      recovery,
      read(atMs, seen),
      route(40_001, "demo_read", atMs),
    ];
    assert.deepEqual(promisesBroken(...of(lateMs + 1, { a: 1 })), ["read"]);
    assert.deepEqual(promisesBroken(...of(lateMs - 1, { a: 1 })), []);
    assert.deepEqual(promisesBroken(...of(lateMs + 1, { a: 2 })), []);
  });

  describe("counts a stale read apart while rolecall may have known no leader", () => {
    const stale = ", while it may have known no leader";
    const acknowledged = write(1_000, { seq: 2, node: "p1" });
    // The lock is free from 100.0 s at the earliest to 100.2 s at the latest.
    const lastMs = movedAtMs + bounds.viewSentAtMs + bounds.readCheckMs;
    const readAt = (atMs: number): readonly HistoryEvent[] => [
      ...grants,
      acknowledged,
      route(40_000, "demo_write", 1_000),
      recovery,
      read(atMs, { a: 1 }),
      route(40_001, "demo_read", atMs),
    ];
    const writeBy = (balancer: "b1" | "b2", openedAtMs: number): readonly HistoryEvent[] => [
      write(openedAtMs, { balancer, node: "p2" }),
      { type: "route", balancer, port: 40_000, pool: "demo_write", server: "pg2", acceptedAtWallMs: openedAtMs },
    ];
    const found = (...history: readonly HistoryEvent[]): readonly string[] => promisesBroken(...history);

    test("from when the lock is free until views of that time are too old", () => {
      assert.deepEqual(found(...readAt(99_980)), ["read"]);
      const { violations, counts, maxima } = check(readAt(100_000));
      assert.deepEqual(violations, []);
      assert.equal(counts[`reads by rolecall's yes: staler than the bound${stale}`], 1);
      assert.equal(maxima[`staleness of a read by rolecall's yes${stale}`], 98_990);
      assert.equal(maxima["staleness of a read by rolecall's yes"], undefined);
      assert.deepEqual(found(...readAt(lastMs)), []);
      assert.deepEqual(found(...readAt(lastMs + 1)), ["read"]);
    });

    test("only until writes through both HAProxy show that rolecall knows the next leader", () => {
      const knownMs = 100_510 + bounds.readCheckMs;
      const both = [...writeBy("b1", 100_300), ...writeBy("b2", 100_500)];
      assert.deepEqual(found(...readAt(knownMs), ...both), []);
      assert.deepEqual(found(...readAt(knownMs + 1), ...both), ["read"]);
      assert.deepEqual(found(...readAt(knownMs + 1), ...writeBy("b1", 100_300)), []);
    });

    test("if the same node gets the lock again, until a yes cannot rest on a report from before", () => {
      const again = (history: readonly HistoryEvent[]): readonly HistoryEvent[] =>
        history.map((event) => (event.type === "lock" ? { ...event, holder: event.holder && ("p2" as const) } : event));
      const freshMs = movedAtMs + bounds.writeMs;
      const afterMs = freshMs + 10 + bounds.readCheckMs + 1;
      const early = [...writeBy("b1", freshMs - 1), ...writeBy("b2", freshMs - 1)];
      const late = [...writeBy("b1", freshMs), ...writeBy("b2", freshMs)];
      const of = (more: readonly HistoryEvent[]): readonly HistoryEvent[] => again([...readAt(afterMs), ...more]);
      const reads = (history: readonly HistoryEvent[]): readonly string[] =>
        found(...history).filter((promise) => promise === "read");
      assert.deepEqual(reads(of(early)), []);
      assert.deepEqual(reads(of(late)), ["read"]);
    });

    test("not for a lock that was free before the run", () => {
      const before = grants.map((event) =>
        event.type === "lock" ? { ...event, revision: event.revision - 11 } : event,
      );
      const history = readAt(100_000).filter((event) => event.type !== "lock");
      assert.deepEqual(
        found(...history, ...before.filter((event) => event.type === "lock")).filter((promise) => promise === "read"),
        ["read"],
      );
    });

    test("until the end of the run if nobody gets the lock any more", () => {
      const expired = readAt(190_000).filter((event) => !(event.type === "lock" && event.revision === 20));
      assert.deepEqual(found(...expired), []);
    });
  });

  test("requires no read to see a write that a failover lost", () => {
    const lost = write(1_000, { seq: 3 });
    const atMs = 2_000 + bounds.readMs;
    const history = [lost, recovery, read(atMs, { a: 2 }), route(40_001, "demo_read", atMs)];
    assert.deepEqual(promisesBroken(...history), []);
    assert.equal(check(history).counts["acknowledged writes that failovers lost"], 1);
  });

  test("finds a read with min_lsn that goes backwards or misses an own write", () => {
    assert.deepEqual(promisesBroken(floorRead), []);
    assert.deepEqual(promisesBroken({ ...floorRead, seen: { a: 3, b: 6 } }), ["min-lsn"]);
    assert.deepEqual(promisesBroken({ ...floorRead, seen: { b: 8 } }), ["min-lsn"]);
  });

  test("counts a read behind min_lsn apart if the database restarted within max_age", () => {
    const behind = { ...floorRead, seen: { a: 3, b: 6 } };
    assert.deepEqual(promisesBroken({ ...behind, upForMs: bounds.restartMs - 1 }), []);
    assert.deepEqual(promisesBroken({ ...behind, upForMs: bounds.restartMs + 11 }), ["min-lsn"]);
  });

  test("finds a whole cluster that is not fit or not served again, and an instance that ended", () => {
    assert.deepEqual(promisesBroken(recovery), []);
    assert.deepEqual(promisesBroken({ ...recovery, fitAtMs: null }), ["fit"]);
    assert.deepEqual(promisesBroken({ ...recovery, fitAtMs: 110_001 + bounds.recoveryMs }), ["fit"]);
    assert.deepEqual(promisesBroken({ ...recovery, servedAtMs: null }), ["served"]);
    assert.deepEqual(promisesBroken({ ...recovery, ended: ["r1"] }), ["alive"]);
    assert.deepEqual(promisesBroken({ ...recovery, wholeAtMs: null, fitAtMs: null, servedAtMs: null }), []);
  });

  test("measures how long the first write takes after each fault", () => {
    const fault = { type: "fault", kind: "kill-node", target: "p1", fromMs: 1_000, toMs: 9_000 } as const;
    const history = [write(8_999), write(12_000), write(13_000), { ...fault, notRun: null }];
    const first = "first write through HAProxy after the end of a fault";
    assert.equal(check(history).maxima[first], 3_010);
    assert.equal(check([...history, { ...fault, toMs: 20_000, notRun: "busy" }]).maxima[first], 3_010);
    const none = check([...history, { ...fault, toMs: 20_000, notRun: null }]);
    assert.equal(none.counts["faults after which no write succeeded in the run"], 1);
  });

  test("adds a short stall to a bound, and voids a run with a long one", () => {
    const late = movedAtMs + bounds.writeMs + 400;
    const history = [...grants, write(late), route(40_000, "demo_write", late)];
    const stall = (forMs: number): HistoryEvent => ({ type: "stall", process: "clients", atMs: late, forMs });
    assert.equal(check([...history, stall(300)]).verdict, "violated");
    assert.equal(check([...history, stall(600)]).verdict, "passed");
    assert.equal(check([...history, stall(bounds.voidStallMs + 1)]).verdict, "void");
  });
});
