import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judge } from "../../src/core/health/rules/judge.ts";
import { observe } from "../../src/core/health/observe/observe.ts";
import { exploredPolicy } from "./policy.ts";
import type { Subject } from "./promises.ts";
import { exploreRefused } from "./refused.ts";

const ours: Subject = { observe, judge, policy: exploredPolicy };

describe("every sequence of events about a claim beside another one, with a third node", () => {
  test("breaks no promise, and marks claims", () => {
    const { violation, marked } = exploreRefused(ours, 3);
    assert.equal(violation, null);
    assert.ok(marked > 0);
  });

  test("breaks no promise with a watched DCS", () => {
    const { violation, marked } = exploreRefused(ours, 3, true);
    assert.equal(violation, null);
    assert.ok(marked > 0);
  });

  test("finds marks that outlast a read of the DCS", () => {
    const blind: Subject = {
      ...ours,
      observe: (cluster, outcome, context) => {
        const next = observe(cluster, outcome, context);
        if (outcome.kind !== "dcs") return next;
        const { refusedClaims } = cluster.leadership;
        const dcs = next.dcs === null ? null : { ...next.dcs, isUp: false };
        return { ...next, dcs, leadership: { ...next.leadership, refusedClaims } };
      },
    };
    assert.match(exploreRefused(blind, 3, true).violation?.problem ?? "nothing", /the DCS names it/);
  });

  test("finds marks that are dropped", () => {
    const forgetful: Subject = {
      ...ours,
      observe: (cluster, ...rest) => {
        const next = observe(cluster, ...rest);
        return { ...next, leadership: { ...next.leadership, refusedClaims: new Map() } };
      },
    };
    assert.match(exploreRefused(forgetful, 5).violation?.problem ?? "nothing", /although it was refused/);
  });

  test("finds marks that never end", () => {
    const stubborn: Subject = {
      ...ours,
      observe: (cluster, ...rest) => {
        const next = observe(cluster, ...rest);
        const refusedClaims = new Map([...cluster.leadership.refusedClaims, ...next.leadership.refusedClaims]);
        return { ...next, leadership: { ...next.leadership, refusedClaims } };
      },
      judge: (view, observation, check) =>
        view.cluster.leadership.refusedClaims.has(observation.node.name)
          ? { fit: false, reason: "superseded", figure: null, isFigureTimed: false, validUntilMs: Infinity }
          : judge(view, observation, check),
    };
    assert.match(exploreRefused(stubborn, 3).violation?.problem ?? "nothing", /it has no yes after/);
  });
});
