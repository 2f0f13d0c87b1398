import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Answered, discoveredCluster, problemWith, restMs } from "./answers.ts";
import type { NodeTruth, Truth } from "./truth.ts";

const askedMs = 100_000;

function nodeOf(name: string, fields: Partial<NodeTruth> = {}): NodeTruth {
  const replica = { role: "replica", state: "running", motion: null, timeline: 1, following: "pg1", replayed: 1_000 };
  return { name, faults: [], ...replica, ...fields };
}

/** A look at a cluster that pg1 leads, with pg2 as its replica. */
function lookAt(agoMs: number, pg2: Partial<NodeTruth> = {}, more: Partial<Truth> = {}): Truth {
  const nodes = [nodeOf("pg1", { role: "primary", following: null }), nodeOf("pg2", pg2)];
  return {
    atMs: askedMs - agoMs,
    holder: "pg1",
    position: 1_000,
    nodes: new Map(nodes.map((node) => [node.name, node])),
    drained: new Set(),
    gapMs: 50,
    ...more,
  };
}

/** A past of these looks; the last thing but a position changed at `changedMs`. */
function pastOf(looks: readonly Truth[], changedMs = askedMs - 1_000): Parameters<typeof problemWith>[1] {
  const between = (fromMs: number, untilMs: number): readonly Truth[] =>
    looks
      .slice(
        Math.max(
          0,
          looks.findLastIndex(({ atMs }) => atMs <= fromMs),
        ),
      )
      .filter(({ atMs }) => atMs <= untilMs);
  return { between, changedMs };
}

function answerOf(fields: Partial<Answered>): Answered {
  const { status = 200, reason = status === 200 ? null : "stale" } = fields;
  const word = { fit: status === 200, reason, snapshot: 1 };
  const named = fields.node ?? "pg2";
  return {
    askedMs,
    answeredMs: askedMs + 2,
    cluster: "c0",
    node: "pg2",
    check: "/replica",
    status,
    reason,
    named,
    word,
    ...fields,
  };
}

/** Looks from 30 s ago until now, one each second. */
function looksOf(
  pg2: (agoMs: number) => Partial<NodeTruth>,
  more: (agoMs: number) => Partial<Truth> = () => ({}),
): Truth[] {
  return Array.from({ length: 31 }, (_, at) =>
    lookAt(30_000 - at * 1_000, pg2(30_000 - at * 1_000), more(30_000 - at * 1_000)),
  );
}

const sound = looksOf(() => ({}));

describe("problemWith: a yes", () => {
  it("is right about a sound replica, and about the holder of the lock", () => {
    assert.equal(problemWith(answerOf({}), pastOf(sound)), null);
    assert.equal(problemWith(answerOf({ node: "pg1", check: "/primary" }), pastOf(sound)), null);
  });

  for (const fault of ["kill", "freeze", "hang", "garbage"])
    it(`is wrong about a node with the fault ${fault} for longer than max_age, and right before`, () => {
      const since = (ms: number): Truth[] => looksOf((agoMs) => ({ faults: agoMs <= ms ? [fault] : [] }));
      assert.match(problemWith(answerOf({}), pastOf(since(6_000))) ?? "", /has not answered/);
      assert.equal(problemWith(answerOf({}), pastOf(since(2_000))), null);
    });

  it("is wrong about a primary that has not held the lock for longer than max_age, and right before", () => {
    const since = (ms: number): Truth[] =>
      looksOf(
        () => ({}),
        (agoMs) => ({ holder: agoMs <= ms ? "pg2" : "pg1" }),
      );
    const answer = answerOf({ node: "pg1", check: "/primary" });
    assert.match(problemWith(answer, pastOf(since(6_000))) ?? "", /has not held the lock/);
    assert.equal(problemWith(answer, pastOf(since(2_000))), null);
  });

  it("is wrong about a replica that is the primary, and about one that has been detached for longer than the window", () => {
    const answer = answerOf({ node: "pg1" });
    assert.match(problemWith(answer, pastOf(sound)) ?? "", /has been the primary/);
    const detached = (ms: number): Truth[] => looksOf((agoMs) => ({ faults: agoMs <= ms ? ["detach"] : [] }));
    assert.match(problemWith(answerOf({}), pastOf(detached(30_000))) ?? "", /detached/);
    assert.equal(problemWith(answerOf({}), pastOf(detached(5_000))), null);
  });

  it("is wrong about a lag above the limit and its error, and right below it", () => {
    const behind = (bytes: number): Truth[] =>
      looksOf(
        () => ({ replayed: 0 }),
        () => ({ position: bytes }),
      );
    const answer = answerOf({ check: "/replica?lag=1MB" });
    assert.match(problemWith(answer, pastOf(behind(4_000_000))) ?? "", /lag/);
    assert.equal(problemWith(answer, pastOf(behind(1_500_000))), null);
    assert.equal(problemWith(answerOf({}), pastOf(behind(4_000_000))), null);
  });
});

describe("problemWith: a no", () => {
  const atRest = askedMs - restMs - 1;

  it("is wrong about a sound node of a cluster at rest, and not judged before it is at rest", () => {
    assert.match(problemWith(answerOf({ status: 503 }), pastOf(sound, atRest)) ?? "", /at rest/);
    assert.equal(problemWith(answerOf({ status: 503 }), pastOf(sound)), null);
    assert.equal(
      problemWith(
        answerOf({ status: 503 }),
        pastOf(
          looksOf(() => ({ faults: ["hang"] })),
          atRest,
        ),
      ),
      null,
    );
  });

  it("gives the reason wrong_role for another role, and drained for a drained node", () => {
    const primary = answerOf({ check: "/primary", status: 503, reason: "wrong_role" });
    assert.equal(problemWith(primary, pastOf(sound, atRest)), null);
    const stale = { ...primary, reason: "stale", word: null };
    assert.match(problemWith(stale, pastOf(sound, atRest)) ?? "", /must be wrong_role/);
    const drained = looksOf(
      () => ({}),
      () => ({ drained: new Set(["pg2"]) }),
    );
    const answer = answerOf({ status: 503, reason: "drained" });
    assert.equal(problemWith(answer, pastOf(drained, atRest)), null);
    assert.match(problemWith(answer, pastOf(sound, atRest)) ?? "", /drained, but the node is sound/);
  });
});

describe("problemWith: the form of an answer", () => {
  for (const [fields, problem] of [
    [{ status: 502 }, /status 502/],
    [{ named: "pg1" }, /about pg1/],
    [{ status: 503, reason: null }, /with the reason null/],
    [{ status: 200, reason: "stale" }, /with the reason stale/],
    [{ word: { fit: false, reason: null, snapshot: 1 } }, /fit is false/],
    [{ status: 503, reason: "stale", word: { fit: false, reason: "down", snapshot: 1 } }, /in the body/],
  ] as const)
    it(`finds ${JSON.stringify(fields)}`, () => {
      assert.match(problemWith(answerOf(fields), pastOf(sound)) ?? "", problem);
    });
});

describe("problemWith: status 400", () => {
  const unknown = { status: 400, reason: "bad_request", named: null, word: null };
  const silentAt = (fromAgoMs: number, untilAgoMs: number): Truth[] =>
    looksOf((agoMs) => ({ faults: agoMs <= fromAgoMs && agoMs > untilAgoMs ? ["freeze"] : [] }));

  it("is right about a node of the cluster with seeds that is silent, or was until just now", () => {
    const answer = answerOf({ ...unknown, cluster: discoveredCluster });
    assert.equal(problemWith(answer, pastOf(silentAt(20_000, -1))), null);
    assert.equal(problemWith(answer, pastOf(silentAt(20_000, 2_000))), null);
  });

  it("is wrong about a sound node, and about a node that is configured", () => {
    const answer = answerOf({ ...unknown, cluster: discoveredCluster });
    assert.match(problemWith(answer, pastOf(sound)) ?? "", /status 400/);
    assert.match(problemWith(answer, pastOf(silentAt(30_000, 20_000))) ?? "", /status 400/);
    assert.match(problemWith(answerOf(unknown), pastOf(silentAt(20_000, -1))) ?? "", /status 400/);
  });
});
