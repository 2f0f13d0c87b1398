/** The status and the log of events say the same of a cluster, in any state. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { KnownConditions } from "../../../../src/core/events/detection/known-conditions.ts";
import { factsOf, isHidden, primaryOf } from "../../../../src/core/health/conditions/cluster-facts.ts";
import { isSevere } from "../../../../src/core/health/conditions/cluster-condition.ts";
import { conditions } from "../../../../src/core/health/conditions/conditions.ts";
import { nodeOverview } from "../../../../src/core/health/documents/node-overview.ts";
import { situationOf } from "../../../../src/core/health/documents/situation.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { summarize } from "../../../../src/core/health/rules/summary.ts";
import { anyDcsRead, anyEvent, outcomeSequence, policyOf, sentAt, unprobedCluster } from "../arbitraries.ts";

const policy = policyOf();
const known = new KnownConditions();
const besideSituation = new Set(conditions.filter(({ status }) => "field" in status).map(({ id }) => id));
const events = fc.oneof({ weight: 8, arbitrary: anyEvent }, { weight: 1, arbitrary: anyDcsRead });

interface Said {
  readonly condition: string;
  /** The kinds of events that would begin now, were there no time to wait. */
  readonly found: readonly string[];
  /** Whether a node answered its last probe: until then the log of events neither begins nor ends what may be hidden. */
  readonly isClear: boolean;
}

function saidOf(cluster: ClusterState, nowMs: number): Said {
  const view = viewAt(cluster, policy, nowMs);
  const summaries = new Map(cluster.nodes.map((node) => [node.node.name, { summary: summarize(view, node) }] as const));
  const visibility = isHidden(view) ? "hidden" : "clear";
  const facts = factsOf(view, { summaries, asked: [] }, { visibility, primary: primaryOf(view), twins: [] });
  const nodes = cluster.nodes.map((node) => nodeOverview(view, node));
  return {
    condition: situationOf(view, { nodes, asked: [], wallMs: 0 }).condition,
    found: known.find(facts, []).map(({ begins: { kind } }) => kind),
    isClear: visibility === "clear",
  };
}

/** Runs a law over every state of random sequences. */
function always(law: (said: Said) => void): void {
  fc.assert(
    fc.property(outcomeSequence(events, 60), (outcomes) => {
      let cluster = unprobedCluster();
      for (const outcome of outcomes) {
        const nowMs = sentAt(outcome);
        cluster = observe(cluster, outcome, { policy, nowMs });
        law(saidOf(cluster, nowMs));
      }
    }),
  );
}

test("what the log of events warns of is no cluster that is well", () => {
  always(({ condition, found }) => {
    const told = found.filter((kind) => !besideSituation.has(kind));
    if (told.length > 0) assert.ok(condition !== "ok" && condition !== "drained", `${condition}: ${told.join(", ")}`);
  });
});

test("a degraded cluster, where a primary serves, is found by the log of events, and the reverse", () => {
  always(({ condition, found, isClear }) => {
    if (condition === "degraded" && isClear) assert.ok(found.includes("degraded"), found.join(", "));
    if (found.includes("degraded")) assert.ok(condition === "degraded" || isSevere(condition), condition);
  });
});

test("a second primary and a blind cluster are so in both", () => {
  always(({ condition, found }) => {
    if (found.includes("blind")) assert.equal(condition, "blind");
    if (found.includes("stray_primary")) assert.ok(isSevere(condition) || condition === "degraded", condition);
    if (found.includes("claims_conflict")) assert.ok(isSevere(condition), condition);
  });
});
