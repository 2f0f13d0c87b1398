import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { plainCheck, type Check } from "../../../../src/core/health/check.ts";
import { explain } from "../../../../src/core/health/rules/explain.ts";
import { judgeMember } from "../../../../src/core/health/rules/pool.ts";
import { routes } from "../../../../src/core/health/route.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { anyEvent, observeAll, sentAt, policyOf, outcomeSequence, unprobedCluster } from "../arbitraries.ts";

const anyCheck: fc.Arbitrary<Check> = fc
  .record(
    {
      route: fc.constantFrom(...routes),
      lagBytesMax: fc.constantFrom(0, 2 ** 20, 2 ** 22),
      lagTimeMsMax: fc.constantFrom(2_000, 6_000),
      minLsn: fc.record({ timeline: fc.constantFrom(null, 1, 2, 3), position: fc.constantFrom(0x5000000, 0x5400000) }),
      replicationState: fc.constantFrom("streaming", "in archive recovery"),
      mode: fc.constantFrom("apply", "write"),
      tags: fc.constant([["dc", "a"]] as const),
      database: fc.constant({ host: "10.0.0.1", port: 5432 }),
      keep: fc.integer({ min: 1, max: 3 }),
      fallbackPrimary: fc.boolean(),
      zones: fc.constantFrom(["a"], ["b", "c"]),
      companions: fc.constantFrom(["pgbouncer"], ["exporter", "pgbouncer"]),
      isForSessions: fc.boolean(),
    },
    { requiredKeys: ["route"] },
  )
  .map((said) => ({ ...plainCheck(said.route), ...said }));

const guards = fc.record(
  {
    exclusivePrimary: fc.boolean(),
    runningPrimary: fc.boolean(),
    attachedReplica: fc.boolean(),
    sameSystem: fc.boolean(),
    failoverHold: fc.boolean(),
    attachWindowMs: fc.constantFrom(500, 3_000),
    lagSamples: fc.integer({ min: 1, max: 3 }),
    handoverHoldMs: fc.constantFrom(0, 2_000),
  },
  { requiredKeys: [] },
);

test("an explanation gives the verdict of judging, and its first refusal is the reason", () => {
  fc.assert(
    fc.property(outcomeSequence(anyEvent, 40), anyCheck, guards, (outcomes, check, guarded) => {
      const policy = policyOf(guarded);
      const last = outcomes.at(-1);
      const view = viewAt(
        observeAll(unprobedCluster(), outcomes, policy),
        policy,
        (last === undefined ? 0 : sentAt(last)) + 100,
      );
      for (const observation of view.cluster.nodes) {
        const { verdict, rules, decisive } = explain(view, observation, check);
        assert.deepEqual(verdict, judgeMember(view, observation, check));
        const refusal = rules.findIndex(({ outcome }) => outcome === "refuse");
        if (!verdict.fit) {
          assert.equal(rules[decisive ?? -1]?.reason, verdict.reason, JSON.stringify(rules));
          // A node that keep or fallback leaves in has a refusal before that of its zone.
          const isLeftIn = verdict.reason === "other_zone" && (check.keep > 0 || check.fallbackPrimary);
          if (!isLeftIn) assert.equal(refusal, decisive, JSON.stringify(rules));
        } else if (!verdict.isDegraded) assert.equal(refusal, -1, JSON.stringify(rules));
      }
    }),
    { numRuns: 400 },
  );
});
