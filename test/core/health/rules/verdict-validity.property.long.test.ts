import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { plainCheck, type Check } from "../../../../src/core/health/check.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../../../../src/core/health/health-policy.ts";
import { hardReasons, softReasons } from "../../../../src/core/health/reason.ts";
import { judgeMember, judgePool } from "../../../../src/core/health/rules/pool.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { routes } from "../../../../src/core/health/route.ts";
import type { Verdict } from "../../../../src/core/health/verdict.ts";
import { sentAt, policyOf } from "../arbitraries.ts";
import {
  anyDurationMs,
  eventsOf,
  outcomesOf,
  starts,
  unprobedCluster,
  type ClusterEvent,
  type TimedEvent,
} from "./arbitraries.ts";
import { anyCheck, anyGuards } from "./check-arbitraries.ts";
import { exporterPage, streamingPrimary } from "./exporter-outcomes.ts";
import { expiryInstants } from "./expiry-instants.ts";

const scenario = fc.boolean().chain((hasManager) =>
  fc.record({
    hasManager: fc.constant(hasManager),
    guards: anyGuards,
    pageMaxAgeMs: fc.constantFrom(2_500, 11_500),
    start: fc.constantFrom(...starts),
    events: eventsOf(hasManager),
    checks: fc.array(anyCheck, { minLength: 3, maxLength: 3 }),
    afterMs: anyDurationMs,
    shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 3, maxLength: 3 }),
    repeats: fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.double({ min: 0, max: 1, noNaN: true })), {
      maxLength: 3,
    }),
  }),
);

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

suite("how long a verdict is valid", () => {
  test("judging again before that gives the same verdict, for every check, guard, drain and exporter", () => {
    const counts = new Map<string, number>();
    fc.assert(
      fc.property(scenario, (given) => {
        const { cluster, policy, nowMs } = play(given);
        for (const target of targetsOf(cluster, given)) {
          const verdict = judgeAt(cluster, target, { policy, nowMs });
          assert.ok(verdict.validUntilMs >= nowMs, "a verdict is valid at the instant of judging");
          const kind = kindOf(verdict, target);
          counts.set(kind, (counts.get(kind) ?? 0) + 1);
          const { validUntilMs } = verdict;
          for (const atMs of instantsBefore(validUntilMs, cluster, { policy, nowMs, shares: given.shares, target }))
            assertSame(judgeAt(cluster, target, { policy, nowMs: atMs }), verdict, { target, atMs });
        }
      }),
      { numRuns: 2_500 },
    );
    // A verdict in which no scenario ends is not tested.
    const countOf = (kind: string): number =>
      [...counts].reduce((sum, [name, times]) => (name.endsWith(kind) ? sum + times : sum), 0);
    const kinds = [...hardReasons, ...softReasons, ...routes.flatMap((route) => [`${route} fit`])];
    const unproven = [...kinds, "primary degraded", "replica degraded"].filter((kind) => countOf(` ${kind}`) < 10);
    assert.deepEqual(unproven, []);
  });

  test("the choice of a node for /liveness ends where a primary begins to count that was one of two", () => {
    const policy = { ...policyOf({}), pageMaxAgeMs: 2_500 };
    let cluster = unprobedCluster(false);
    for (const outcome of outcomesOf("a healthy round", false))
      cluster = observe(cluster, outcome, { policy, nowMs: 1_000 });
    const drain = { reason: "", by: null, extent: "distrust", untilMs: 2_700, since: "", until: "" } as const;
    for (const outcome of [
      exporterPage("ex3", streamingPrimary, 1_000),
      { kind: "drain", cluster: "demo", node: "ex1", drain } as const,
      exporterPage("ex3", streamingPrimary, 1_210),
    ])
      cluster = observe(cluster, outcome, { policy, nowMs: outcome.kind === "drain" ? 1_000 : sentAt(outcome) });
    const target = { node: null, check: plainCheck("liveness") };
    const verdict = judgeAt(cluster, target, { policy, nowMs: 2_700 });
    assert.deepEqual([verdict.chosen, verdict.validUntilMs], ["ex2", 3_500]);
    assert.equal(judgeAt(cluster, target, { policy, nowMs: 3_500 }).chosen, "ex3");
  });

  test("it ends only where evidence grows too old, a guard's time or a drain ends, or a limit is passed", () => {
    fc.assert(
      fc.property(scenario, (given) => {
        const { cluster, policy, nowMs } = play(given);
        for (const target of targetsOf(cluster, given)) {
          const { validUntilMs } = judgeAt(cluster, target, { policy, nowMs });
          if (validUntilMs === Infinity || validUntilMs === nowMs) continue;
          assert.ok(
            expiryInstants(cluster, policy, target.check).includes(validUntilMs),
            `nothing ends at ${validUntilMs}`,
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("the yes of a sole primary is valid until its evidence is as old as a yes allows, and no shorter", () => {
    let judged = 0;
    fc.assert(
      fc.property(scenario, (given) => {
        const { cluster, policy, nowMs } = play(given);
        const view = viewAt(cluster, policy, nowMs);
        const [primary, ...others] = view.lock.claims;
        if (primary === undefined || others.length > 0 || cluster.drains.size > 0 || primary.node.api === null) return;
        const verdict = judgeMember(view, primary, plainCheck("primary"));
        if (!verdict.fit || verdict.isDegraded || view.lock.holder !== primary.node.name) return;
        judged += 1;
        assert.equal(verdict.validUntilMs, primary.sentAtMs + view.maxAgeMs);
        assert.equal(judgePool(view, plainCheck("primary")).verdict.validUntilMs, verdict.validUntilMs);
      }),
      { numRuns: 3_000 },
    );
    assert.ok(judged > 300, `only ${judged} scenarios had a sole primary`);
  });

  test("a verdict outlives every report that changes nothing but ages", () => {
    let kept = 0;
    fc.assert(
      fc.property(scenario, (given) => {
        const { cluster, policy, nowMs } = play(given);
        const verdicts = targetsOf(cluster, given).map((target) => ({
          target,
          verdict: judgeAt(cluster, target, { policy, nowMs }),
        }));
        let [state, lastMs] = [cluster, nowMs];
        for (const [index, share] of given.repeats) {
          lastMs += share * 3_000;
          const outcome = repeated(state, state.nodes[index]?.node.name ?? "", lastMs);
          if (outcome === null) continue;
          state = observe(state, outcome, { policy, nowMs: lastMs });
          if (state.revision !== cluster.revision) return;
          for (const { target, verdict } of verdicts) {
            const { validUntilMs } = verdict;
            if (lastMs >= validUntilMs) continue;
            kept += 1;
            const between = { policy, nowMs: lastMs, shares: given.shares, target };
            for (const atMs of [lastMs, ...instantsBefore(validUntilMs, state, between)])
              assertSame(judgeAt(state, target, { policy, nowMs: atMs }), verdict, { target, atMs });
          }
        }
      }),
      { numRuns: 4_000 },
    );
    assert.ok(kept > 4_000, `only ${kept} verdicts were compared after a report that changed nothing but ages`);
  });
});

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/** Records a scenario's events. Returns the state with the instant of its judgement. */
function play({
  hasManager,
  guards,
  pageMaxAgeMs,
  start,
  events,
  afterMs,
}: Scenario): Context & { readonly cluster: ClusterState } {
  const policy = { ...policyOf(guards), pageMaxAgeMs };
  let cluster = unprobedCluster(hasManager);
  let nowMs = 1_000;
  for (const outcome of outcomesOf(start, hasManager)) {
    nowMs = recordedAtMs(outcome, nowMs);
    cluster = observe(cluster, outcome, { policy, nowMs });
  }
  for (const timed of events) {
    nowMs += timed.afterMs;
    const outcome = outcomeOf(cluster, timed.event, nowMs);
    nowMs += answeredMs(timed);
    if (outcome !== null) cluster = observe(cluster, outcome, { policy, nowMs });
  }
  return { cluster, policy, nowMs: nowMs + afterMs };
}

function recordedAtMs(outcome: ProbeOutcome, nowMs: number): number {
  return outcome.kind === "drain" ? nowMs : Math.max(nowMs, sentAt(outcome));
}

function answeredMs({ event, answeredAfterMs }: TimedEvent): number {
  return event.kind === "repeat" ? 0 : answeredAfterMs;
}

function outcomeOf(cluster: ClusterState, event: ClusterEvent, atMs: number): ProbeOutcome | null {
  return event.kind === "outcome" ? event.at(atMs) : repeated(cluster, event.node, atMs);
}

/** The node's last answer again, as reported by a prober that recognises it. `null` for a node that never answered. */
function repeated(cluster: ClusterState, node: string, atMs: number): ProbeOutcome | null {
  const known = cluster.nodes[cluster.index.get(node) ?? -1];
  if (known === undefined || known.report === null || known.node.api === null) return null;
  const { report, hasLock } = known;
  return { kind: "status", cluster: "demo", node, sentAtMs: atMs, sentAtWallMs: atMs, result: { report, hasLock } };
}

/** The subject of a judgement: a node, or the whole cluster if `node` is `null`. */
interface Target {
  readonly node: string | null;
  readonly check: Check;
}

function targetsOf({ nodes }: ClusterState, { checks }: Scenario): readonly Target[] {
  // Sessions are those of one node.
  const ofCluster = [...checks.filter(({ isForSessions }) => !isForSessions), plainCheck("primary")];
  const ofNodes = nodes.flatMap(({ node }) =>
    [...checks, plainCheck("primary")].map((check) => ({ node: node.name, check })),
  );
  return [...ofCluster.map((check) => ({ node: null, check })), ...ofNodes];
}

/** A verdict, with the chosen node if a whole cluster is judged. */
type Judged = Verdict & { readonly chosen: string };

function judgeAt(cluster: ClusterState, { node, check }: Target, { policy, nowMs }: Context): Judged {
  const view = viewAt(cluster, policy, nowMs);
  const observation = cluster.nodes.find((known) => known.node.name === node);
  if (observation !== undefined) return { ...judgeMember(view, observation, check), chosen: "itself" };
  const { verdict, chosen } = judgePool(view, check);
  return { ...verdict, chosen: chosen?.node.name ?? "none" };
}

/** Compares everything that must not change. Figures that grow with time are left out. */
function assertSame(later: Judged, verdict: Judged, { target, atMs }: { target: Target; atMs: number }): void {
  if (textOf(later) === textOf(verdict)) return;
  assert.fail(`${JSON.stringify(target)} was ${textOf(verdict)} and is ${textOf(later)} at ${atMs}`);
}

function textOf(judged: Judged): string {
  if (judged.fit) return `fit ${judged.isDegraded} ${judged.passedOver?.reason} ${judged.chosen}`;
  return `${judged.reason} ${judged.isFigureTimed ? "" : judged.figure} ${judged.chosen}`;
}

function kindOf(judged: Judged, { check }: Target): string {
  return ` ${check.route} ${judged.fit ? (judged.isDegraded ? "degraded" : "fit") : judged.reason}`;
}

interface Between extends Context {
  readonly shares: readonly number[];
  readonly target: Target;
}

/** Instants from now on and before an end: around every possible change, some between, and the last one. */
function instantsBefore(
  endMs: number,
  cluster: ClusterState,
  { policy, nowMs, shares, target }: Between,
): readonly number[] {
  const lastMs = endMs === Infinity ? nowMs + 120_000 : endMs - 0.001;
  const between = shares.map((share) => nowMs + share * (lastMs - nowMs));
  const expiries = expiryInstants(cluster, policy, target.check).filter((atMs) => atMs >= nowMs && atMs <= endMs);
  const near = [...new Set(expiries)].flatMap((atMs) => [atMs - 0.001, atMs, atMs + 0.001]);
  return [...between, ...near, lastMs].filter((atMs) => atMs >= nowMs && atMs < endMs);
}
