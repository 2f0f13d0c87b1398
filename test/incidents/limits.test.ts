import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { incidentPieces } from "../../src/core/events/incident/incident-file.ts";
import { incidentSubject } from "../../src/core/events/incident/incident-subject.ts";
import { openIncident } from "../../src/features/replay/core/page-core.ts";
import { policyOf, unprobedCluster } from "../core/health/arbitraries.ts";
import { readIncident } from "./play.ts";

const head = `name: limits
why: a test
cluster: { nodes: [pg1, pg2] }
`;
const steps = `steps:
  - { at: 0s, nodes: { pg1: { lock: true, position: 0/5000000 }, pg2: { position: 0/4000000 } } }
  - { at: 5s, config: { of: pg1, ttl: 30, loop_wait: 10, retry_timeout: 10, maximum_lag_on_failover: 77 } }
  - { at: 9s, nodes: { pg1: { lock: true } } }
`;

test("a recorded file states the limits that were known, without the cluster's own and without who sets them", () => {
  const limit = {
    lag_bytes: null,
    lag_ms: null,
    keep: 0,
    fallback_primary: false,
    requested_ms_ago: null,
    of: null,
    route: null,
  };
  const limits = [
    {
      ...limit,
      source: "checks",
      route: "replica",
      lag_bytes: 1_000,
      lag_ms: 5_000,
      keep: 1,
      fallback_primary: true,
      zones: ["a", "b"],
      requested_ms_ago: 3,
    },
    { ...limit, source: "defaults", of: "10.0.0.7:8008", lag_bytes: 0 },
    { ...limit, source: "failover", lag_bytes: 77 },
  ] as const;
  const subject = incidentSubject(unprobedCluster(), policyOf());
  const incident = { subject, instantMs: 0, recorded: [], accused: new Map(), isComplete: true };
  const text = [...incidentPieces({ ...incident, limits: { atWallMs: 60_000, limits } })].join("");
  assert.doesNotMatch(text, /10\.0\.0\.7|failover(?!_hold)/);
  assert.deepEqual(readIncident(text, "limits.yaml").limits, {
    atWallMs: 60_000,
    limits: [
      {
        source: "checks",
        route: "replica",
        lag_bytes: 1_000,
        lag_ms: 5_000,
        keep: 1,
        fallback_primary: true,
        zones: ["a", "b"],
      },
      { source: "defaults", route: null, lag_bytes: 0, lag_ms: null, keep: 0, fallback_primary: false },
    ],
  });
  assert.equal(readIncident([...incidentPieces(incident)].join(""), "limits.yaml").limits, null);
});

test("a player has the limits of the file at each instant, and that of the cluster once it is recorded", () => {
  const stated = `limits: { known: 2026-11-21T03:12:00Z, lag: [{ source: push, route: replica, lag_ms: 5000 }] }\n`;
  const player = openIncident(parse(`${head}${stated}${steps}`), "limits.yaml");
  const [before, after] = [player.at(4_000).limits, player.at(5_000).limits];
  const sources = (limits: typeof after): readonly string[] =>
    limits.limits.map(({ source, route, lag_bytes: bytes, lag_ms: ms }) => `${source} ${route} ${bytes} ${ms}`);
  assert.deepEqual([sources(before), before.is_failover_known], [["push replica null 5000"], false]);
  assert.deepEqual(sources(after), ["push replica null 5000", "failover null 77 null"]);
  assert.deepEqual([after.known_at_ms, after.is_failover_known], [Date.parse("2026-11-21T03:12:00Z"), true]);
  const silent = openIncident(parse(`${head}${steps}`), "limits.yaml").at(4_000).limits;
  assert.deepEqual([silent.limits, silent.known_at_ms, silent.is_failover_known], [[], null, false]);
});

for (const [limits, message] of [
  ["{ lag: [] }", /limits\.known: it must be a time/],
  ["{ known: 2026-11-21T03:12:00Z }", /limits\.lag: it must be a list, got nothing/],
  ["{ known: 2026-11-21T03:12:00Z, lag: [{ source: checks }] }", /lag\[1\]: it must be a limit with lag_bytes, lag_ms/],
  [
    "{ known: 2026-11-21T03:12:00Z, lag: [{ source: failover, lag_ms: 1 }] }",
    /source: it must be one of checks, pool, def/,
  ],
  ["{ known: 2026-11-21T03:12:00Z, lag: [{ source: push, route: x, lag_ms: 1 }] }", /route: it must be one of primary/],
  ["{ known: 2026-11-21T03:12:00Z, lag: [{ source: push, lag_ms: -1 }] }", /lag_ms: it must be a whole number, got -1/],
  [`{ known: 2026-11-21T03:12:00Z, lag: [${"0,".repeat(101)}] }`, /it must be a list of at most 100 limits/],
] as const)
  test(`refuses limits: ${message.source}`, () =>
    assert.throws(() => readIncident(`${head}limits: ${limits}\n${steps}`, "limits.yaml"), message));
