import * as fc from "fast-check";
import { plainCheck, type Check } from "../../../../src/core/health/check.ts";
import type { Guards } from "../../../../src/core/health/guards.ts";
import { routes } from "../../../../src/core/health/route.ts";

export const anyGuards: fc.Arbitrary<Partial<Guards>> = fc.record({
  exclusivePrimary: fc.constantFrom(true, true, true, false),
  runningPrimary: fc.constantFrom(true, true, false),
  attachedReplica: fc.constantFrom(true, true, false),
  sameSystem: fc.constantFrom(true, true, false),
  failoverHold: fc.constantFrom(true, true, false),
  attachWindowMs: fc.constantFrom(1_500, 10_000),
  demotedForMs: fc.constantFrom(0, 2_000, 60_000),
  lagSamples: fc.constantFrom(1, 1, 2),
  dwellMs: fc.constantFrom(0, 0, 3_000),
  handoverHoldMs: fc.constantFrom(0, 1_500),
  surviveMs: fc.constantFrom(0, 6_500, 20_000),
});

const walFloor = fc.record({
  timeline: fc.constantFrom(null, 1, 2),
  position: fc.constantFrom(0x5000000, 0x5200000, 0x5200001),
});

/** A check with any of the supported parameters. */
export const anyCheck: fc.Arbitrary<Check> = fc
  .record({
    route: fc.constantFrom(...routes),
    lagBytesMax: fc.constantFrom(null, null, 0, 2 ** 20, 3 * 2 ** 20),
    lagTimeMsMax: fc.constantFrom(null, null, 700, 2_000, 5_000),
    minLsn: fc.option(walFloor, { freq: 2 }),
    replicationState: fc.constantFrom(null, null, null, "streaming", "in archive recovery"),
    mode: fc.constantFrom("apply", "write"),
    tags: fc.constantFrom<Check["tags"][]>([], [], [], [["dc", "a"]]),
    database: fc.constantFrom(null, null, null, { host: "10.0.0.2", port: 5432 }),
    keep: fc.constantFrom(0, 0, 1, 2),
    fallbackPrimary: fc.constantFrom(false, false, true),
    zones: fc.constantFrom<Check["zones"][]>([], [], ["a"], ["b"], ["a", "c"], ["c"]),
    companions: fc.constantFrom<Check["companions"][]>([], [], [], ["pgbouncer"], ["pgbouncer", "exporter"]),
    isForSessions: fc.constantFrom(false, false, false, true),
    missStatus: fc.constantFrom(503, 404),
    unknownStatus: fc.constantFrom(503, 500),
  })
  .map((parameters) => ({ ...plainCheck(parameters.route), ...parameters }));
