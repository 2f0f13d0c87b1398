/**
 * Hours of a cluster and a balancer on virtual time, idle and busy. The balancer follows each verdict within its own
 * delay. Then nothing may be found; and a balancer that does not follow one is found.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import "../../../fake/property-seed.ts";
import { AuditPlay } from "./audit-play.ts";
import { SimulatedBalancer, balancerDelayMs, type BalancerFault, type SimulatedLife } from "./simulated-balancer.ts";

const hourMs = 3_600_000;
const runs = Number(process.env["AUDIT_RUNS"] ?? 25);

/** How a cluster is used. Sessions begin in a second, on average; a change of verdicts follows the last one after. */
const lives: fc.Arbitrary<SimulatedLife> = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  sessionsPerS: fc.constantFrom(0, 0.001, 0.05, 2, 40),
  sessionMs: fc.constantFrom(5, 400, 20_000, 7_200_000),
  changeMs: fc.constantFrom(900, 8_000, 60_000, 600_000),
  balance: fc.constantFrom("roundrobin" as const, "leastconn" as const, "random" as const),
  kind: fc.constantFrom("primary" as const, "replicas" as const),
  delayMs: fc.constantFrom(300, 2_000, 7_000),
  weights: fc.array(fc.constantFrom(1, 100, 256), { minLength: 3, maxLength: 3 }),
});

/** Looks every 5 s, and sooner where the audit asks for it. @returns what was found, and when first, in ms */
function audit(
  life: SimulatedLife,
  hours: number,
  fault: BalancerFault | null,
): { readonly found: readonly string[]; readonly atMs: number } {
  const balancer = new SimulatedBalancer(life, fault);
  const play = new AuditPlay({ isOfPrimary: life.kind === "primary" }, balancer.nodes);
  play.judge(0, balancer.verdicts);
  let lookMs = 500;
  const endMs = hours * hourMs;
  while (lookMs < endMs) {
    for (const { atMs, may } of balancer.advance(lookMs)) play.judge(atMs, may);
    const found = play.look(lookMs, balancer.servers, true);
    if (found.length > 0) return { found, atMs: lookMs };
    lookMs = Math.max(lookMs + 200, Math.min(lookMs + 5_000, play.lookAgainMs));
  }
  return { found: [], atMs: endMs };
}

suite("simulated hours", () => {
  test("a balancer that follows the verdicts has no finding", () => {
    fc.assert(
      fc.property(lives, (life) => {
        const { found, atMs } = audit(life, 1, null);
        assert.deepEqual(found, [], `after ${atMs} ms`);
      }),
      { numRuns: runs },
    );
  });

  for (const [name, busy] of [
    ["idle", { sessionsPerS: 0.001, sessionMs: 400, changeMs: 600_000 }],
    ["busy", { sessionsPerS: 20, sessionMs: 3_000, changeMs: 60_000 }],
  ] as const)
    for (const kind of ["primary", "replicas"] as const)
      test(`24 hours of a pool of ${kind}, ${name}, have no finding`, () => {
        const life = {
          seed: 7,
          balance: "leastconn",
          delayMs: 2_000,
          weights: [100, 100, 100],
          kind,
          ...busy,
        } as const;
        assert.deepEqual(audit(life, 24, null), { found: [], atMs: 24 * hourMs });
      });

  test("a balancer that keeps the sessions of an old primary is found within 5 s of its own delay", () => {
    fc.assert(
      fc.property(lives, fc.integer({ min: 20_000, max: 900_000 }), (life, atMs) => {
        const planted = {
          ...life,
          kind: "primary",
          sessionMs: 7_200_000,
          sessionsPerS: 2,
          changeMs: Infinity,
        } as const;
        const { found, atMs: foundMs } = audit(planted, 1, { kind: "keeps", atMs });
        assert.deepEqual(found, ["misrouted pg1 pg1"]);
        const limitMs = balancerDelayMs(life) + 5_000;
        assert.ok(foundMs - atMs <= limitMs, `found after ${foundMs - atMs} ms of ${limitMs} ms`);
      }),
      { numRuns: runs },
    );
  });

  test("a balancer that sends new sessions to a lagging replica is found", () => {
    fc.assert(
      fc.property(lives, fc.integer({ min: 20_000, max: 900_000 }), (life, atMs) => {
        const planted = { ...life, kind: "replicas", sessionsPerS: 40, changeMs: Infinity } as const;
        const { found } = audit({ ...planted, weights: [100, 100, 100] }, 1, { kind: "sends", atMs });
        assert.deepEqual(found, ["misrouted pg2 pg2"]);
      }),
      { numRuns: runs },
    );
  });
});
