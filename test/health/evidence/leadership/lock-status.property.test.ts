import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ProbeOutcome } from "../../../../src/cluster/outcome.ts";
import { plainCheck } from "../../../../src/health/check.ts";
import { judge } from "../../../../src/health/rules/judge.ts";
import { judgePool } from "../../../../src/health/rules/pool.ts";
import { viewAt } from "../../../../src/health/evidence/leadership/cluster-view.ts";
import {
  anyEvent,
  statusOutcome,
  observeAll,
  leaderViewOutcome,
  names,
  sentAt,
  policyOf,
  failedOutcome,
  outcomeSequence,
  unprobedCluster,
  viewFailureOutcome,
} from "../../arbitraries.ts";

const policy = policyOf();
const name = fc.constantFrom(...names);

/** Claims and their withdrawal, silences, and documents that name any node, correctly or not. */
const claimsAndWords = fc.oneof(
  fc.tuple(name, fc.boolean(), fc.integer({ min: 1, max: 3 })).map(
    ([node, hasLock, timeline]) =>
      (atMs: number): ProbeOutcome =>
        statusOutcome(node, atMs, { hasLock, timeline }),
  ),
  name.map((node) => (atMs: number) => failedOutcome(node, atMs)),
  fc.tuple(name, fc.option(name)).map(
    ([of, leader]) =>
      (atMs: number) =>
        leaderViewOutcome(of, leader, atMs),
  ),
);

for (const [what, event] of [
  ["claims, documents and silences", claimsAndWords],
  ["all that may be heard", anyEvent],
] as const) {
  test(`whatever the order of ${what}, at most one node is primary at any instant`, () => {
    fc.assert(
      fc.property(outcomeSequence(event, 60), fc.integer({ min: 0, max: 7_000 }), (outcomes, laterMs) => {
        let cluster = unprobedCluster();
        for (const outcome of outcomes) {
          cluster = observeAll(cluster, [outcome], policy);
          for (const nowMs of [sentAt(outcome), sentAt(outcome) + laterMs]) {
            const view = viewAt(cluster, policy, nowMs);
            for (const route of ["primary", "leader"] as const) {
              const fits = cluster.nodes
                .filter((node) => judge(view, node, plainCheck(route)).fit)
                .map(({ node }) => node.name);
              assert.ok(fits.length <= 1, `${route}: ${fits.join(" and ")}`);
              assert.equal(judgePool(view, plainCheck(route)).chosen?.node.name, fits[0]);
            }
          }
        }
      }),
    );
  });
}

test("a sole claim that its own view confirms and no other disputes is always fit", () => {
  fc.assert(
    fc.property(
      outcomeSequence(claimsAndWords, 40),
      name,
      fc.array(fc.tuple(name, fc.boolean()), { maxLength: 6 }),
      (outcomes, holder, words) => {
        // Late enough that no other claim is fresh, and no earlier view counts.
        const beganMs =
          outcomes.reduce((latest, outcome) => Math.max(latest, sentAt(outcome)), 0) + policy.viewMaxAgeMs;
        const claim = statusOutcome(holder, beganMs, { hasLock: true, timeline: 1 });
        const others = names
          .filter((node) => node !== holder)
          .map((node) => statusOutcome(node, beganMs + 1, { timeline: 1 }));
        // Documents name the holder or, once per node, nobody. The holder's own document names the holder.
        const once = new Map(words.filter(([of]) => of !== holder));
        const documents = [
          leaderViewOutcome(holder, holder, beganMs + 2),
          ...[...once].map(([of, isNamed]) => leaderViewOutcome(of, isNamed ? holder : null, beganMs + 2)),
        ];
        const state = observeAll(
          observeAll(unprobedCluster(), outcomes, policy),
          [claim, ...others, ...documents],
          policy,
        );
        const clusterView = viewAt(state, policy, beganMs + 3);
        assert.equal(judgePool(clusterView, plainCheck("primary")).chosen?.node.name, holder);
      },
    ),
  );
});

test("of two claims the one that a third node's later view names is primary", () => {
  fc.assert(
    fc.property(
      outcomeSequence(claimsAndWords, 40),
      fc.shuffledSubarray([...names], { minLength: 3, maxLength: 3 }),
      (outcomes, [one, other, third]) => {
        assert.ok(one !== undefined && other !== undefined && third !== undefined);
        const beganMs =
          outcomes.reduce((latest, outcome) => Math.max(latest, sentAt(outcome)), 0) + policy.viewMaxAgeMs;
        const claims = [one, other].map((node) => statusOutcome(node, beganMs, { hasLock: true }));
        const others = names
          .filter((node) => node !== one && node !== other)
          .map((node) => statusOutcome(node, beganMs));
        const fourth = names.filter((node) => node !== one && node !== other && node !== third);
        const views = [
          leaderViewOutcome(third, other, beganMs + 1),
          ...fourth.map((node) => viewFailureOutcome(node, beganMs + 1)),
        ];
        const part = observeAll(
          observeAll(unprobedCluster(), outcomes, policy),
          [...claims, ...others, ...views],
          policy,
        );
        assert.equal(viewAt(part, policy, beganMs + 2).lock.holder, other);
      },
    ),
  );
});
