import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ProbeOutcome } from "../../../../../src/core/cluster/outcome.ts";
import { plainCheck } from "../../../../../src/core/health/check.ts";
import { judge } from "../../../../../src/core/health/rules/judge.ts";
import { judgePool } from "../../../../../src/core/health/rules/pool.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
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

/** Another node stood, and the view of a third one named it: the claim of pg1 is marked (step 15). */
const marked: readonly ProbeOutcome[] = [
  statusOutcome("pg3", 0, { hasLock: true }),
  statusOutcome("pg1", 0, { hasLock: true }),
  leaderViewOutcome("pg4", "pg3", 1),
  statusOutcome("pg4", 1),
];
/** The same, with a view that was there before the claim: the claim is not marked. */
const unmarked: readonly ProbeOutcome[] = [...marked.slice(0, 2), leaderViewOutcome("pg4", "pg3", 0)];

/**
 * A claim that was marked beside another one stands again only once a third node names it, or all were asked and none
 * counts against it (steps 16 and 17). Any other one stands at once.
 */
test("a sole claim that its own view confirms and no other disputes is fit, unless it is marked and no third node names it", () => {
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
        const before = observeAll(observeAll(unprobedCluster(), outcomes, policy), [claim, ...others], policy);
        const mark = before.leadership.refusedClaims.get(holder);
        const isNamed = [...once].some(([of, doesName]) => doesName && of !== mark?.beside);
        const clusterView = viewAt(observeAll(before, documents, policy), policy, beganMs + 3);
        const chosen = judgePool(clusterView, plainCheck("primary")).chosen?.node.name;
        assert.equal(chosen, mark === undefined || isNamed ? holder : undefined);
      },
    ),
    {
      examples: [
        [[...marked], "pg1", []],
        [[...marked], "pg1", [["pg2", true]]],
        [[...marked], "pg1", [["pg2", false]]],
        // The node that stood is no third one.
        [[...marked], "pg1", [["pg3", true]]],
        [[...unmarked], "pg1", []],
      ],
    },
  );
});

test("a marked claim is fit once all third nodes were asked, or the wait for them is over", () => {
  const claim = statusOutcome("pg1", 20_000, { hasLock: true });
  const own = leaderViewOutcome("pg1", "pg1", 20_002);
  const others = (["pg2", "pg3", "pg4"] as const).map((node) => statusOutcome(node, 20_001));
  const failed = (["pg2", "pg4"] as const).map((node) => viewFailureOutcome(node, 20_003));
  const chosenAfter = (outcomes: readonly ProbeOutcome[], nowMs: number): string | undefined =>
    judgePool(
      viewAt(observeAll(unprobedCluster(), [...marked, claim, ...others, own, ...outcomes], policy), policy, nowMs),
      plainCheck("primary"),
    ).chosen?.node.name;
  assert.equal(chosenAfter([], 20_010), undefined);
  assert.equal(chosenAfter(failed.slice(0, 1), 20_010), undefined);
  assert.equal(chosenAfter(failed, 20_010), "pg1");
  // The same claim goes on for as long as a view counts.
  const again = [25_000, 30_000, 31_490, 31_510].map((atMs) => statusOutcome("pg1", atMs, { hasLock: true }));
  assert.equal(chosenAfter(again.slice(0, 3), 31_495), undefined);
  assert.equal(chosenAfter(again, 31_520), "pg1");
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
