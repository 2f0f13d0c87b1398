import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import type { ClaimLoss } from "../../../src/core/cluster/leadership.ts";
import { nodeNamed } from "../../../src/core/cluster/lookup.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const nodes = ["pg1", "pg2", "pg3"] as const;
const checks = ["/primary", "/leader", "/replica", "/read-only", "/health"] as const;
/** The ttl of the cluster, in ms. */
const ttlMs = 30_000;
/** How old a report may be for a yes, in ms. */
const maxAgeMs = 5_500;

type Step = { readonly afterMs: number } & (
  | { readonly does: "leads" | "follows"; readonly node: string; readonly pause: boolean; readonly failsafe: boolean }
  | { readonly does: "reads"; readonly leader: string | null }
);

const rarely = fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0);
const afterMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 900 }) },
  { weight: 1, arbitrary: fc.constantFrom(2_000, 5_400, 12_000, 31_000) },
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      afterMs,
      does: fc.constantFrom("leads", "follows"),
      node: fc.constantFrom(...nodes),
      pause: rarely,
      failsafe: rarely,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      afterMs,
      does: fc.constant("leads"),
      node: fc.constant("pg1"),
      pause: rarely,
      failsafe: rarely,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      afterMs,
      does: fc.constant("reads"),
      leader: fc.constantFrom("pg1", "pg1", "pg2", "pg3", "a stranger", null, null, "unreadable"),
    }),
  },
);
const anySteps = fc.array(anyStep, { maxLength: 30 });

/** A cluster with a watched DCS, and what happened to it. */
class Watched {
  readonly fixture = new ClusterFixture({
    nodes: [...nodes],
    cluster: { dcs: { etcd: ["http://127.0.0.1:2379"], prefix: "/service", scope: null, tls: null, auth: null } },
  });
  nowMs = 0;
  /** The reads that were answered, oldest first. */
  readonly reads: { readonly leader: string | null; readonly atMs: number }[] = [];
  /** The newest report of each node. */
  readonly reports = new Map<
    string,
    { readonly hasLock: boolean; readonly isExempt: boolean; readonly atMs: number }
  >();

  play(step: Step): void {
    this.nowMs += step.afterMs;
    const { fixture, nowMs } = this;
    if (step.does === "reads") {
      fixture.readDcs(step.leader, nowMs);
      if (step.leader !== "unreadable") this.reads.push({ leader: step.leader, atMs: nowMs });
      return;
    }
    const { node, pause, failsafe } = step;
    const fields = { ...(pause ? { pause: true } : {}), ...(failsafe ? { failsafe_mode_is_active: true } : {}) };
    if (step.does === "leads") fixture.lead(node, nowMs, fields);
    else fixture.follow(node, nowMs, fields);
    this.reports.set(node, { hasLock: step.does === "leads", isExempt: pause || failsafe, atMs: nowMs });
  }

  /** The claims that the DCS withdraws now. */
  get withdrawn(): readonly (readonly [node: string, loss: ClaimLoss])[] {
    return [...this.fixture.cluster.leadership.lostClaims].filter(([, { withdrawal }]) => withdrawal !== undefined);
  }

  /** The verdicts of all nodes, by `node check`. */
  verdicts(): ReadonlyMap<string, string> {
    const { fixture, nowMs } = this;
    return new Map(
      nodes.flatMap((node) => checks.map((check) => [`${node} ${check}`, fixture.judge(node, check, nowMs)])),
    );
  }
}

suite("the DCS and the verdicts", () => {
  test("a read grants nothing: only nodes that claim the lock themselves get a yes as the leader, and only one", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const watched = new Watched();
        for (const step of steps) {
          watched.play(step);
          const fit = nodes.filter((node) => watched.fixture.judge(node, "/primary", watched.nowMs) === "fit");
          assert.ok(fit.length <= 1, `${fit.join()} are fit`);
          for (const node of fit) {
            const report = watched.reports.get(node);
            assert.ok(
              report?.hasLock === true && watched.nowMs - report.atMs < maxAgeMs,
              `${node} does not claim the lock`,
            );
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  test("a read turns a no into a yes only where a withdrawal ends or another claim stands in place of a withdrawn one", () => {
    let changed = 0;
    fc.assert(
      fc.property(anySteps, (steps) => {
        const watched = new Watched();
        for (const step of steps) {
          if (step.does !== "reads") {
            watched.play(step);
            continue;
          }
          const sizeBefore = watched.withdrawn.length;
          watched.play({ ...step, leader: "unreadable" });
          const before = watched.verdicts();
          watched.play({ ...step, afterMs: 0 });
          const after = watched.verdicts();
          for (const [key, verdict] of after) {
            if (verdict === before.get(key)) continue;
            changed += 1;
            assert.ok(sizeBefore + watched.withdrawn.length > 0, `${key} was ${before.get(key)} and is ${verdict}`);
          }
        }
      }),
      { numRuns: 1_500 },
    );
    assert.ok(changed > 100, `only ${changed} verdicts changed`);
  });

  test("it withdraws a claim only after it named that member, and only while rule 2 allows it", () => {
    let found = 0;
    fc.assert(
      fc.property(anySteps, (steps) => {
        const watched = new Watched();
        for (const step of steps) {
          watched.play(step);
          for (const [node, { withdrawal }] of watched.withdrawn) {
            const { reads, reports, nowMs } = watched;
            // A claimant that is silent keeps what was decided about its claim until it answers.
            if (withdrawal === undefined || nowMs - (reports.get(node)?.atMs ?? 0) >= maxAgeMs) continue;
            found += 1;
            const at = reads.findIndex(({ atMs }) => atMs === withdrawal.readAtMs);
            const report = reports.get(node);
            assert.ok(report?.hasLock === true, "the claim goes on");
            assert.ok(
              reads.slice(0, at).some(({ leader }) => leader === node),
              "an earlier read named the member",
            );
            assert.ok(
              reads.slice(at).every(({ leader }) => leader !== node),
              "no read has named it since",
            );
            assert.ok(withdrawal.namedInstead !== null || !report.isExempt, "no pause and no failsafe mode");
            const claimedSinceMs = nodeNamed(watched.fixture.cluster, node)?.claimedSinceMs ?? -Infinity;
            assert.ok(
              report.atMs - Math.max(withdrawal.readAtMs, claimedSinceMs) < ttlMs,
              "the claim has not gone on for a ttl",
            );
          }
        }
      }),
      { numRuns: 600 },
    );
    assert.ok(found > 80, `only ${found} withdrawals were found`);
  });

  test("a key that moves from a claimant to another member takes its yes away, whatever happened before", () => {
    let found = 0;
    fc.assert(
      fc.property(anySteps, fc.constantFrom("pg2", "pg3", "a stranger", null), (steps, next) => {
        const watched = new Watched();
        for (const step of steps) watched.play(step);
        const read = { afterMs: 10, does: "reads" } as const;
        watched.play({ ...read, leader: "pg1" });
        watched.play({ afterMs: 10, does: "leads", node: "pg1", pause: false, failsafe: false });
        if (watched.fixture.cluster.dcs?.distrust !== null) return;
        if (watched.fixture.judge("pg1", "/primary", watched.nowMs) === "fit") found += 1;
        watched.play({ ...read, leader: next });
        const after = watched.verdicts();
        assert.deepEqual([after.get("pg1 /primary"), after.get("pg1 /leader")], ["superseded", "superseded"]);
      }),
      { numRuns: 400 },
    );
    assert.ok(found > 100, `only ${found} nodes had a yes`);
  });
});
