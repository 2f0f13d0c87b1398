import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Observation } from "../../../../src/core/cluster/observation.ts";
import { plainCheck, type Check } from "../../../../src/core/health/check.ts";
import { judge } from "../../../../src/core/health/rules/judge.ts";
import { judgeMember, judgePool } from "../../../../src/core/health/rules/pool.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import type { Verdict } from "../../../../src/core/health/verdict.ts";
import { anyCheck, anyGuards } from "./check-arbitraries.ts";
import {
  anyEvent,
  statusOutcome,
  observeAll,
  leaderViewOutcome,
  sentAt,
  policyOf,
  outcomeSequence,
  unprobedCluster,
} from "../arbitraries.ts";

const scenario = fc.record({
  outcomes: outcomeSequence(anyEvent, 40),
  keep: fc.integer({ min: 1, max: 4 }),
  limit: fc.integer({ min: 0, max: 4 }).map((megabytes) => megabytes * 2 ** 20),
  limitMs: fc.option(fc.integer({ min: 2_000, max: 9_000 })),
  lagSamples: fc.integer({ min: 1, max: 3 }),
  route: fc.constantFrom("replica", "read-only", "async"),
  fallbackPrimary: fc.boolean(),
});

test("a lag limit never takes the pool below keep while there are candidates, and never counts one that is none", () => {
  fc.assert(
    fc.property(scenario, ({ outcomes, keep, limit, limitMs, lagSamples, route }) => {
      const policy = policyOf({ lagSamples });
      const view = viewAt(observeAll(unprobedCluster(), outcomes, policy), policy, instantOf(outcomes));
      const check = { ...plainCheck(route), lagBytesMax: limit, lagTimeMsMax: limitMs, keep };
      const candidates = view.cluster.nodes.filter((node) => judge(view, node, plainCheck(route)).fit);
      const fits = view.cluster.nodes.filter((node) => judgeMember(view, node, check).fit);
      assert.ok(
        fits.length >= Math.min(keep, candidates.length),
        `${fits.length} of ${candidates.length} candidates are fit`,
      );
      assert.ok(fits.every((node) => candidates.includes(node)));
      const within = candidates.filter((node) => judge(view, node, check).fit);
      assert.ok(fits.length <= Math.max(keep, within.length), "more than keep were left in for their lag");
    }),
  );
});

test("the primary falls in for replicas only when none of them is fit, and no pool has two primaries", () => {
  fc.assert(
    fc.property(scenario, ({ outcomes, keep, limit, fallbackPrimary, lagSamples }) => {
      const healthPolicy = policyOf({ lagSamples });
      const clusterView = viewAt(
        observeAll(unprobedCluster(), outcomes, healthPolicy),
        healthPolicy,
        instantOf(outcomes),
      );
      const check = { ...plainCheck("replica"), lagBytesMax: limit, keep: keep === 4 ? 0 : keep, fallbackPrimary };
      const primaries = clusterView.cluster.nodes.filter((node) => judge(clusterView, node, plainCheck("primary")).fit);
      assert.ok(primaries.length <= 1);
      const fits = clusterView.cluster.nodes.filter((node) => judgeMember(clusterView, node, check).fit);
      const replicas = fits.filter((node) => node !== primaries[0]);
      if (primaries[0] !== undefined && fallbackPrimary)
        assert.equal(fits.includes(primaries[0]), replicas.length === 0);
      const { verdict, chosen } = judgePool(clusterView, check);
      assert.equal(verdict.fit, fits.length > 0);
      assert.equal(chosen === null, !verdict.fit);
    }),
  );
});

test("with a healthy primary and fallback=primary the read pool is never empty", () => {
  fc.assert(
    fc.property(scenario, ({ outcomes, limit, lagSamples }) => {
      const settings = policyOf({ lagSamples });
      const nowMs = instantOf(outcomes) + 10_000;
      const cluster = observeAll(
        observeAll(unprobedCluster(), outcomes, settings),
        [statusOutcome("pg1", nowMs, { hasLock: true }), leaderViewOutcome("pg2", "pg1", nowMs + 1)],
        settings,
      );
      const sight = viewAt(cluster, settings, nowMs + 1);
      if (!judgePool(sight, plainCheck("primary")).verdict.fit) return;
      assert.ok(judgePool(sight, { ...plainCheck("replica"), lagBytesMax: limit, fallbackPrimary: true }).verdict.fit);
    }),
  );
});

test("a zone takes nothing from a pool that no node of it is fit for, and leaves only its nodes where one is", () => {
  const given = fc.record({
    outcomes: outcomeSequence(anyEvent, 40),
    guards: anyGuards,
    check: anyCheck.map((check) => ({ ...check, database: null })),
    zones: fc.constantFrom<Check["zones"][]>(["a"], ["b"], ["a", "b"], ["c"]),
    laterMs: fc.constantFrom(0, 900, 2_500, 7_000),
  });
  fc.assert(
    fc.property(given, ({ outcomes, guards, check, zones, laterMs }) => {
      const policy = policyOf(guards);
      const nowMs = instantOf(outcomes) + laterMs;
      const view = viewAt(observeAll(unprobedCluster(), outcomes, policy), policy, nowMs);
      const { nodes } = view.cluster;
      const fitFor = (asked: Check): readonly Observation[] =>
        nodes.filter((node) => judgeMember(view, node, asked).fit);
      const anywhere = fitFor({ ...check, zones: [] });
      const local = anywhere.filter(({ node }) => node.zone !== null && zones.includes(node.zone));
      const ignored = check.isForSessions || check.route === "health" || check.route === "liveness";
      const wanted = ignored || local.length === 0 ? anywhere : local;
      const asked = { ...check, zones };
      assert.deepEqual(fitFor(asked), wanted);
      for (const node of nodes) {
        const [verdict, before] = [judgeMember(view, node, asked), judgeMember(view, node, { ...check, zones: [] })];
        if (verdict.fit === before.fit) assert.equal(reasonOf(verdict), reasonOf(before));
        else assert.equal(reasonOf(verdict), `other_zone ${node.node.zone ?? "none"}`);
      }
      const { verdict, chosen } = judgePool(view, asked);
      assert.deepEqual([verdict.fit, chosen === null || wanted.includes(chosen)], [wanted.length > 0, true]);
    }),
  );
});

function reasonOf(verdict: Verdict): string | null {
  return verdict.fit ? null : `${verdict.reason} ${verdict.figure}`;
}

function instantOf(outcomes: Parameters<typeof observeAll>[1]): number {
  const last = outcomes.at(-1);
  return last === undefined ? 0 : sentAt(last);
}
