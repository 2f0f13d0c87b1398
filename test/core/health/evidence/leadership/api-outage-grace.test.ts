import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNamed } from "../../../../../src/core/cluster/lookup.ts";
import { plainCheck } from "../../../../../src/core/health/check.ts";
import { explain } from "../../../../../src/core/health/rules/explain.ts";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import {
  graceOf,
  type ExporterPrimaryEvidence,
} from "../../../../../src/core/health/evidence/leadership/api-outage-grace.ts";
import { lastSight, readIncident } from "../../../../incidents/play.ts";
import { silentApi } from "./silent-api.ts";

const alive: ExporterPrimaryEvidence = { isPrimary: true, standbysStreaming: 2, freshUntilMs: Infinity };

interface Scene {
  readonly survive?: string;
  /** Further outcomes after the last answer of the leader at 5 s. */
  readonly later?: string;
  readonly atMs: number;
}

/** A leader last seen with its lock at 5 s, silent since: does it stay fit? (patroni#3474, #3481, #2263) */
function keepsItsYes(
  { survive = "20s", later = "", atMs }: Scene,
  exporter: ExporterPrimaryEvidence | null,
  name = "pg1",
): boolean {
  const incident = readIncident(
    `name: silent API
why: a test
cluster: { nodes: [pg1, pg2, pg3] }
settings: { guards: { survive: ${survive} } }
steps:
  - { at: 0s, until: 5s, every: 1s, nodes: { pg1: { lock: true, position: 0/5000000 }, pg2: { position: 0/5000000 } } }
  - { at: 6s, until: 8s, every: 1s, nodes: { pg1: { failure: timeout } } }
${later}`,
    "survival.yaml",
  );
  const { cluster, policy } = lastSight(incident);
  const view = viewAt(cluster, policy, atMs);
  const observation = nodeNamed(cluster, name);
  assert.ok(observation !== undefined);
  return graceOf(view, observation, exporter).isGranted;
}

const scenes: readonly (readonly [string, Scene, ExporterPrimaryEvidence | null, boolean])[] = [
  ["keeps its yes while its exporter shows it at work", { atMs: 9_000 }, alive, true],
  ["keeps it up to the bound that the lock is sure to last", { atMs: 14_999 }, alive, true],
  ["loses it at that bound, counted from the last probe that saw the lock", { atMs: 15_000 }, alive, false],
  ["loses it at a shorter bound of its own", { survive: "4s", atMs: 9_000 }, alive, false],
  ["loses it where the guard is off", { survive: "0s", atMs: 6_000 }, alive, false],
  ["loses it without an exporter", { atMs: 9_000 }, null, false],
  ["loses it when the exporter shows a replica", { atMs: 9_000 }, { ...alive, isPrimary: false }, false],
  ["loses it when no standby streams from it", { atMs: 9_000 }, { ...alive, standbysStreaming: 0 }, false],
  [
    "loses it when another claims the lock",
    { later: "  - { at: 8.5s, nodes: { pg2: { lock: true, timeline: 2 } } }", atMs: 9_000 },
    alive,
    false,
  ],
  [
    "loses it when a document names another",
    { later: "  - { at: 8.5s, cluster: { of: pg2, leader: pg2 } }", atMs: 9_000 },
    alive,
    false,
  ],
  [
    "keeps it when a document names it",
    { later: "  - { at: 8.5s, cluster: { of: pg2, leader: pg1 } }", atMs: 9_000 },
    alive,
    true,
  ],
  [
    "keeps it when a document names nobody",
    { later: "  - { at: 8.5s, cluster: { of: pg2 } }", atMs: 9_000 },
    alive,
    true,
  ],
  [
    "keeps it past that bound while another node's newer document names it",
    { later: "  - { at: 14s, cluster: { of: pg2, leader: pg1 } }", atMs: 24_999 },
    alive,
    true,
  ],
  [
    "loses it after the configured time, whatever is named",
    { later: "  - { at: 14s, cluster: { of: pg2, leader: pg1 } }", atMs: 25_000 },
    alive,
    false,
  ],
  [
    "loses it when that document is too old",
    { survive: "8h", later: "  - { at: 14s, cluster: { of: pg2, leader: pg1 } }", atMs: 25_500 },
    alive,
    false,
  ],
  [
    "loses it at that bound if a newest document names nobody",
    {
      later: "  - { at: 14s, cluster: { of: pg2, leader: pg1 } }\n  - { at: 14s, cluster: { of: pg3 } }",
      atMs: 15_000,
    },
    alive,
    false,
  ],
  [
    "loses it at that bound if the document that names it was requested with its last answer",
    { later: "  - { at: 14s, sent: 5s, cluster: { of: pg2, leader: pg1 } }", atMs: 15_000 },
    alive,
    false,
  ],
  [
    "loses it at that bound if only its own document names it",
    { later: "  - { at: 14s, cluster: { of: pg1, leader: pg1 } }", atMs: 15_000 },
    alive,
    false,
  ],
  [
    "gets it back after a gap",
    { survive: "8h", later: "  - { at: 1h, nodes: { pg2: {} }, cluster: { of: pg2, leader: pg1 } }", atMs: 3_601_000 },
    alive,
    true,
  ],
  [
    "does not get it back after another claim stood",
    {
      survive: "8h",
      later: `  - { at: 8.5s, nodes: { pg2: { lock: true, timeline: 2 } } }
  - { at: 1h, nodes: { pg2: {} }, cluster: { of: pg2, leader: pg1 } }`,
      atMs: 3_601_000,
    },
    alive,
    false,
  ],
  [
    "keeps it when a document that named another is older than its lock",
    { later: "  - { at: 8.5s, sent: 3s, cluster: { of: pg2, leader: pg2 } }", atMs: 9_000 },
    alive,
    true,
  ],
  [
    "loses it once it has answered without the lock",
    { later: "  - { at: 8.5s, nodes: { pg1: {} } }", atMs: 9_000 },
    alive,
    false,
  ],
  [
    "keeps it for less where the cluster's ttl is short",
    { later: "  - { at: 5.5s, config: { of: pg2, ttl: 20, loop_wait: 10, retry_timeout: 5 } }", atMs: 10_000 },
    alive,
    false,
  ],
];

for (const [what, scene, exporter, expected] of scenes) {
  test(`a primary whose API went silent ${what}`, () => {
    assert.equal(keepsItsYes(scene, exporter), expected);
  });
}

test("a replica whose API went silent gains nothing by an exporter that calls it primary", () => {
  assert.equal(keepsItsYes({ atMs: 9_000 }, alive, "pg2"), false);
});

test("a primary whose API is silent keeps its yes, degraded, on its exporter's rows, for itself and for the cluster", () => {
  const watched = silentApi(20_000);
  // Down by its failures, and its report older than max_age: 11 s is 6 s after the last probe that saw the lock.
  assert.equal(watched.judge("pg1", "/primary", 11_000), "degraded");
  assert.equal(watched.judge(null, "/primary", 11_000), "degraded");
  assert.equal(watched.judge("pg1", "/replica", 11_000), "down");
  const observation = watched.cluster.nodes[0];
  assert.ok(observation !== undefined);
  const { rules, verdict } = explain(
    viewAt(watched.cluster, watched.policy, 11_000),
    observation,
    plainCheck("primary"),
  );
  assert.ok(verdict.fit && rules.some(({ rule, outcome }) => rule === "survival" && outcome === "pass"));
});

test("it loses its yes at the bound, when its exporter falls silent too, and where the guard is off", () => {
  assert.equal(silentApi(20_000).judge("pg1", "/primary", 15_000), "down");
  assert.equal(silentApi(5_000).judge("pg1", "/primary", 12_000), "down");
  assert.equal(silentApi(20_000, 0).judge("pg1", "/primary", 11_000), "down");
});

test("it loses its yes the instant another claims the lock", () => {
  const watched = silentApi(20_000);
  watched.lead("pg3", 11_000, { timeline: 2 });
  assert.equal(watched.judge("pg1", "/primary", 11_000), "down");
  assert.equal(watched.judge("pg3", "/primary", 11_000), "fit");
});
