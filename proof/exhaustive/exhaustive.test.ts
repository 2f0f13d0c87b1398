import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judge } from "../../src/core/health/rules/judge.ts";
import { observe } from "../../src/core/health/observe/observe.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { fit } from "../../src/core/health/verdict.ts";
import { alphabets } from "./alphabet.ts";
import { explore, type Exploration } from "./explore.ts";
import { exploredPolicy } from "./policy.ts";
import type { Subject } from "./promises.ts";

const ours: Subject = { observe, judge, policy: exploredPolicy };

/** Explores every alphabet from both starts until a promise is broken. */
function firstViolation(subject: Subject, depth: number): Exploration["violation"] {
  for (const alphabet of alphabets.values())
    for (const isSettled of [false, true]) {
      const { violation } = explore(subject, { alphabet, depth, isSettled });
      if (violation !== null) return violation;
    }
  return null;
}

describe("every sequence of events about two nodes", () => {
  test("breaks no promise", () => {
    assert.equal(firstViolation(ours, 3), null);
  });

  const broken: readonly (readonly [name: string, problem: RegExp, subject: Subject])[] = [
    [
      "evidence whose age does not count",
      /the explanation has another verdict/,
      {
        ...ours,
        judge: (view, observation, check) =>
          judge(viewAt(view.cluster, exploredPolicy, view.cluster.newestReportAtMs), observation, check),
      },
    ],
    [
      "a yes for a node that does not claim to lead",
      /pg2 leads without a claim/,
      {
        ...ours,
        judge: (view, observation, check) =>
          check.route === "primary" && observation.node.name === "pg2" && view.cluster.lockClaims.length === 0
            ? fit
            : judge(view, observation, check),
      },
    ],
    [
      "a yes for every claim",
      /two nodes for \/primary/,
      {
        ...ours,
        judge: (view, observation, check) =>
          check.route === "primary" && observation.hasLock ? fit : judge(view, observation, check),
      },
    ],
    [
      "a revision that stays the same",
      /has two verdicts/,
      { ...ours, observe: (cluster, ...rest) => ({ ...observe(cluster, ...rest), revision: cluster.revision }) },
    ],
    [
      "a lost claim that is never restored",
      /the verdicts stay wrong/,
      {
        ...ours,
        observe: (cluster, ...rest) => {
          const next = observe(cluster, ...rest);
          const lostClaims = new Map([...cluster.leadership.lostClaims, ...next.leadership.lostClaims]);
          const isLost = next.leadership.decision.kind === "held" && lostClaims.has(next.leadership.decision.holder);
          const decision = isLost ? { kind: "lost" as const } : next.leadership.decision;
          return { ...next, leadership: { ...next.leadership, decision, lostClaims } };
        },
      },
    ],
    [
      "a yes that is valid for ever",
      /before it expires/,
      {
        ...ours,
        judge: (view, observation, check) => ({ ...judge(view, observation, check), validUntilMs: 1_000_000 }),
      },
    ],
  ];
  for (const [name, problem, subject] of broken)
    test(`finds ${name}`, () => {
      assert.match(firstViolation(subject, 4)?.problem ?? "nothing", problem);
    });
});
