/** When the claim of pg2 is marked as refused beside that of pg1 (rule 2). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { RefusedClaim } from "../../../../../src/core/cluster/leadership.ts";
import { withRefusals } from "../../../../../src/core/health/evidence/leadership/refused-claims.ts";
import type { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { played, type Step } from "../../../../fake/scenario.ts";
import { api, claims, four, idles, policy, views } from "./refusal-steps.ts";

const before: RefusedClaim = { api, beside: "pg1", viewSentAtMs: 2_000 };

interface Marking {
  readonly given: string;
  /** After pg1 led and pg3 and pg4 answered at 0 s, and pg2 claimed the lock at 1 s. */
  readonly steps: readonly Step[];
  readonly known?: RefusedClaim;
  readonly mark: RefusedClaim | undefined;
}

const marking: readonly Marking[] = [
  { given: "a third view names the leader", steps: [views(2, { pg3: "pg1" })], mark: before },
  { given: "one does that was requested with the claim", steps: [views(1, { pg3: "pg1" })], mark: undefined },
  { given: "a third view names nobody", steps: [views(2, { pg3: null })], mark: undefined },
  { given: "a third view names the claimant", steps: [views(2, { pg3: "pg2" })], mark: undefined },
  { given: "a third view names its own node", steps: [views(2, { pg3: "pg3" })], mark: undefined },
  { given: "the claimant's own view names the leader", steps: [views(2, { pg2: "pg1" })], mark: undefined },
  { given: "the leader's view names another node", steps: [views(2, { pg1: "pg4" })], mark: undefined },
  {
    given: "the newest of several views counts",
    steps: [views(2, { pg4: "pg1" }), views(3, { pg3: "pg1" })],
    mark: { ...before, viewSentAtMs: 3_000 },
  },
  {
    given: "the same view marks it beside another node than before",
    steps: [views(2, { pg3: "pg1" })],
    known: { ...before, beside: "pg4" },
    mark: before,
  },
  {
    given: "the same view marks it at another address than before",
    steps: [views(2, { pg3: "pg1" })],
    known: { ...before, api: "x" },
    mark: before,
  },
  { given: "its node reports no lock", steps: [idles(2, "pg2")], known: before, mark: undefined },
  { given: "no view is left", steps: [], known: before, mark: before },
];

function marksAfter(watched: ClusterFixture, known: ReadonlyMap<string, RefusedClaim>, atS: number) {
  const context = { policy: watched.policy, nowMs: atS * 1_000 };
  return withRefusals(watched.cluster, { standing: "pg1", before: known }, context);
}

suite("a claim beside an accepted one", () => {
  const first: readonly Step[] = [{ at: 0, leads: "pg1" }, idles(0), idles(0, "pg4"), claims(1)];
  for (const { given, steps, known, mark } of marking)
    test(given, () => {
      const watched = played({ ...four, policy, steps: [...first, ...steps] });
      const marks = new Map(known === undefined ? [] : [["pg2", known]]);
      const after = marksAfter(watched, marks, 4);
      assert.deepEqual(after.get("pg2"), mark);
      assert.equal(marksAfter(watched, after, 4), after, "the same map");
    });

  test("a mark stays while its node has not answered in this run", () => {
    const marks = new Map([["pg2", before]]);
    assert.equal(marksAfter(played({ policy, steps: [{ at: 0, leads: "pg1" }] }), marks, 1), marks);
  });

  test("the mark of the claim that stands ends", () => {
    const marks = new Map([["pg1", { ...before, api: "http://pg1:8008", beside: "pg2" }]]);
    assert.deepEqual([...marksAfter(played({ policy, steps: [{ at: 0, leads: "pg1" }] }), marks, 1)], []);
  });

  test("only one of two marks is replaced", () => {
    const steps = [...first, { at: 1, leads: "pg4" } as const, views(2, { pg3: "pg1" })];
    const watched = played({ ...four, policy, steps });
    const old = { api: "http://pg4:8008", beside: "pg1", viewSentAtMs: 1_500 };
    const marks = new Map([
      ["pg2", before],
      ["pg4", old],
    ]);
    const after = marksAfter(watched, marks, 4);
    assert.equal(after.get("pg2"), before);
    assert.deepEqual(after.get("pg4"), { ...old, viewSentAtMs: 2_000 });
  });

  test("a claim is marked beside one that stood last in an earlier run", () => {
    const watched = played({ policy, steps: [idles(0), claims(1), views(2, { pg3: "pg1" })] });
    assert.deepEqual([...marksAfter(watched, new Map(), 4)], [["pg2", before]]);
  });
});
