import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { nodeNamed } from "../../../../src/core/cluster/lookup.ts";
import type { ProbeOutcome, StatusOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { Sender } from "../../../../src/core/cluster/documents/report.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { recordUnchanged } from "../../../../src/core/health/observe/unchanged-report.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import {
  anyEvent,
  statusOutcome,
  observeAll,
  historyOutcome,
  leaderViewOutcome,
  names,
  sentAt,
  policyOf,
  outcomeSequence,
  unprobedCluster,
  type Name,
} from "../arbitraries.ts";

/** Healthy nodes, many at the leader's position. */
const healthyNode = fc.tuple(fc.constantFrom(...names), fc.integer({ min: 0, max: 1 })).map(
  ([node, position]) =>
    (atMs: number) =>
      healthy(node, node === "pg1", { position: 0x5000000 + position, atMs }),
);

/**
 * The same after a promotion: pg2 leads on timeline 2 and lists its replicas. Some of them still report the old
 * timeline.
 */
const promoted = fc
  .tuple(fc.constantFrom("pg2", "pg2", "pg3", "pg4"), fc.integer({ min: 0, max: 1 }), fc.constantFrom(1, 2, 2, null))
  .map(([node, position, timeline]) => (atMs: number) => {
    const isLeader = node === "pg2";
    const senders = isLeader ? [{ name: "pg3", address: null, state: position === 0 ? "streaming" : "catchup" }] : [];
    return healthy(node, isLeader, {
      position: 0x5300000 + position,
      atMs,
      timeline: isLeader ? 2 : timeline,
      senders,
    });
  });

const switchPoints = fc.constant((atMs: number) => historyOutcome("pg2", atMs));

const scenario = fc.record({
  outcomes: fc
    .tuple(
      outcomeSequence(fc.oneof({ weight: 19, arbitrary: healthyNode }, { weight: 1, arbitrary: anyEvent }), 30),
      outcomeSequence(
        fc.oneof(
          { weight: 17, arbitrary: promoted },
          { weight: 2, arbitrary: switchPoints },
          { weight: 1, arbitrary: anyEvent },
        ),
        30,
      ),
      fc.boolean(),
    )
    .map(([before, after, isPromoted]) => (isPromoted ? [...before, ...laterBy(after, before)] : before)),
  rise: fc.integer({ min: 1, max: 2 }),
  dwellMs: fc.constantFrom(0, 0, 0, 3_000),
  afterMs: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 4_000, max: 7_000 })),
  answeredAfterMs: fc.constantFrom(0, 30),
  again: fc.shuffledSubarray([...names], { minLength: 1 }),
});

test("recordUnchanged gives the same state as the full path", () => {
  let unchanged = 0;
  fc.assert(
    fc.property(scenario, ({ outcomes, rise, dwellMs, afterMs, answeredAfterMs, again }) => {
      const settings = { ...policyOf({ dwellMs }), rise };
      const last = outcomes.at(-1);
      let state = observeAll(
        unprobedCluster(),
        [
          ...outcomes,
          leaderViewOutcome("pg3", outcomes.some(isPromotion) ? "pg2" : "pg1", last === undefined ? 0 : sentAt(last)),
        ],
        settings,
      );
      let sentAtMs = (last === undefined ? 0 : sentAt(last)) + afterMs;
      for (const node of again) {
        const outcome = outcomeAgain(state, node, sentAtMs);
        if (outcome === null) continue;
        const context = { policy: settings, nowMs: sentAtMs + answeredAfterMs };
        const short = recordUnchanged(state, outcome, context);
        const full = observe(state, parsedAgain(outcome), context);
        if (short !== null) {
          unchanged += 1;
          // The full path sees another report object and raises the revision.
          assert.deepEqual({ ...short, revision: 0 }, { ...full, revision: 0 });
        }
        state = full;
        sentAtMs += 100;
      }
    }),
    { numRuns: 3_000 },
  );
  assert.ok(unchanged > 300, `only ${unchanged} reports were unchanged`);
});

function isPromotion(outcome: ProbeOutcome): boolean {
  return outcome.kind === "status" && outcome.node === "pg2" && "report" in outcome.result && outcome.result.hasLock;
}

function outcomeAgain(
  cluster: ClusterState,
  node: Name,
  sentAtMs: number,
): (StatusOutcome & { readonly result: Answered }) | null {
  const known = nodeNamed(cluster, node);
  if (known === undefined || known.report === null) return null;
  const { report, hasLock } = known;
  return { kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs, result: { report, hasLock } };
}

type Answered = Exclude<StatusOutcome["result"], { readonly failure: unknown }>;

/** The same outcome with an equal report in another object, as if parsed again. */
function parsedAgain(outcome: StatusOutcome & { readonly result: Answered }): StatusOutcome {
  return { ...outcome, result: { ...outcome.result, report: { ...outcome.result.report } } };
}

function healthy(
  node: Name,
  isLeader: boolean,
  stated: {
    readonly position: number;
    readonly atMs: number;
    readonly timeline?: number | null;
    readonly senders?: readonly Sender[];
  },
): ReturnType<typeof statusOutcome> {
  const { position, atMs, timeline = 1, senders = [] } = stated;
  const positions = isLeader ? { location: position } : { location: null, received: position, replayed: position };
  return statusOutcome(node, atMs, {
    hasLock: isLeader,
    role: isLeader ? "primary" : "replica",
    name: null,
    timeline,
    senders,
    ...positions,
  });
}

/** Appends one scenario to another. Between them pg1 loses the lock. */
function laterBy(outcomes: readonly ProbeOutcome[], before: readonly ProbeOutcome[]): readonly ProbeOutcome[] {
  const last = before.at(-1);
  const beganMs = last === undefined ? 0 : sentAt(last);
  const lost = statusOutcome("pg1", beganMs, { role: "replica", state: "stopping", name: null });
  return [lost, ...outcomes.map((outcome) => movedBy(outcome, beganMs))];
}

function movedBy(outcome: ProbeOutcome, ms: number): ProbeOutcome {
  if (outcome.kind === "drain") return outcome;
  if (outcome.kind !== "document") return { ...outcome, sentAtMs: outcome.sentAtMs + ms };
  const { answer } = outcome;
  return { ...outcome, answer: { ...answer, served: { ...answer.served, sentAtMs: answer.served.sentAtMs + ms } } };
}
