import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { DrainExtent } from "../../../../src/core/cluster/drain.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { NodeApi } from "../../../../src/core/http/node-api/node-api.ts";
import { storeFixture, type StoreFixture } from "../../../fake/store-fixture.ts";
import { outcomesOf } from "../../health/rules/arbitraries.ts";
import { exporterPage, exporterRole, healthyExporters } from "../../health/rules/exporter-outcomes.ts";
import { anyEvent, statusOutcome, leaderViewOutcome, sentAt, failedOutcome } from "../../health/arbitraries.ts";

const routes = [
  "primary",
  "primary?tag_dc=a&unknown=500",
  "leader",
  "primary?for=sessions",
  "replica?lag=1MB&lag_time=700ms&fallback=primary&for=sessions",
  "health?for=sessions",
  "replica",
  "replica?lag=1MB",
  "replica?lag=0&keep=1",
  "replica?lag_time=700ms",
  "replica?lag_time=2s&keep=2",
  "replica?lag=2MB&lag_time=3s&fallback=primary",
  "replica?min_lsn=0/5200000&miss=404",
  "replica?min_lsn=1@0/5100000&lag_time=2s",
  "replica?replication_state=streaming",
  "replica?replication_state=in%20archive%20recovery&fallback=primary",
  "replica?lag=1MB&lag_time=700ms&keep=1&fallback=primary&miss=404&unknown=500",
  "replica?zone=a",
  "read-only?zone=b,c&lag=1MB&keep=1&fallback=primary",
  "read-only-sync?lag_time=2s",
  "read-only-quorum",
  "replica?db=10.0.0.9:5432&unknown=500",
  "read-only?fallback=primary",
  "sync",
  "async?tag_dc=a",
  "quorum",
  "health",
  "liveness",
  "readiness?lag=1MB",
  "readiness?mode=write",
  "standby-leader",
  "patroni",
];
const places = ["/nodes/pg1/", "/nodes/pg2/", "/nodes/pg3/", "/nodes/ex1/", "/clusters/demo/"];
/** Requested in each scenario, because these have to be tested. */
const always = ["/nodes/pg1/primary", "/nodes/pg2/replica", "/nodes/ex1/health"];
const targets = places.flatMap((place) => routes.map((route) => `${place}${route}`));

const nodeNames = ["pg1", "pg2", "pg3"] as const;
type Node = (typeof nodeNames)[number];

type Event =
  | { readonly kind: "again"; readonly node: Node }
  | { readonly kind: "made"; readonly make: (atMs: number) => ProbeOutcome };

function made(make: (atMs: number) => ProbeOutcome): Event {
  return { kind: "made", make };
}

const anyNode = fc.constantFrom(...nodeNames);

const workingPrimary = { isPrimary: true, streaming: 1 };

/** An exporter's answer. Those of pg1 and of ex1 mostly show an active primary. */
const anyExporterEvent = fc.oneof(
  fc.constantFrom("pg1", "ex1").map((name) => made((atMs) => exporterRole(name, "primary", atMs))),
  fc.constantFrom("pg1", "ex1").map((name) => made((atMs) => exporterPage(name, workingPrimary, atMs))),
  fc.constantFrom("pg1", "pg2", "ex1").map((name) => made((atMs) => exporterRole(name, "replica", atMs))),
  fc.constantFrom("pg2", "ex1").map((name) => made((atMs) => exporterPage(name, { isPrimary: false }, atMs))),
);

/** Mostly a node repeats its last answer. Rarely any other event of a cluster occurs. */
const anyClusterEvent = fc.oneof(
  { weight: 24, arbitrary: anyNode.map((name): Event => ({ kind: "again", node: name })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(anyNode, fc.integer({ min: 0, max: 3 }))
      .map(([name, megabytes]) => made((atMs) => healthy(name, megabytes, atMs))),
  },
  { weight: 3, arbitrary: anyEvent.map(made) },
  { weight: 3, arbitrary: anyExporterEvent },
  { weight: 3, arbitrary: fc.constant(made((atMs) => failedOutcome("pg1", atMs))) },
  { weight: 1, arbitrary: fc.constant(made((atMs) => leaderViewOutcome("pg2", "pg1", atMs))) },
  {
    weight: 1,
    arbitrary: fc
      .record({ node: anyNode, extent: fc.constantFrom<DrainExtent>("replica", "all", "distrust") })
      .map((request) => made((atMs) => drained(request, atMs))),
  },
);

const silentPrimary = [...outcomesOf("a failed primary", true), ...healthyExporters("pg1", "ex1", 6_000)];

const scenario = fc.record({
  hasExporters: fc.boolean(),
  /** Whether pg1's API has been silent for 5 s while its exporter shows an active primary. */
  beginsSilent: fc.boolean(),
  guards: fc.record({
    lagSamples: fc.constantFrom(1, 1, 2),
    dwellMs: fc.constantFrom(0, 0, 3_000),
    handoverHoldMs: fc.constantFrom(0, 1_500),
    attachWindowMs: fc.constantFrom(1_500, 10_000),
    exclusivePrimary: fc.constantFrom(true, true, false),
    surviveMs: fc.constantFrom(0, 20_000),
  }),
  requested: fc.array(fc.constantFrom(...targets), { minLength: 4, maxLength: 8 }).map((some) => [...always, ...some]),
  events: fc.array(
    fc.record({
      event: anyClusterEvent,
      /** Time since the previous event, and from sending the probe to its answer, in ms. */
      afterMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom(900, 1_950, 5_450)),
      answeredAfterMs: fc.constantFrom(0, 1, 40),
    }),
    { maxLength: 30 },
  ),
});

test("a cached response is the one that would be made now, but for figures that grow and when it was observed", () => {
  const counts = { "primary 200": 0, "primary degraded": 0, "replica 200": 0, "ex1 200": 0, drained: 0, all: 0 };
  const count = (target: string, text: string): void => {
    const isYes = text.startsWith("HTTP/1.1 200");
    counts.all += 1;
    if (text.includes("X-Rolecall-Reason: drained")) counts.drained += 1;
    if (target === "/nodes/ex1/health" && isYes) counts["ex1 200"] += 1;
    if (target === "/nodes/pg2/replica" && isYes) counts["replica 200"] += 1;
    if (target === "/nodes/pg1/primary" && isYes)
      counts[text.includes("X-Rolecall-Degraded") ? "primary degraded" : "primary 200"] += 1;
  };
  fc.assert(
    fc.property(scenario, ({ hasExporters, beginsSilent, guards, requested, events }) => {
      const cluster = storeFixture(guards, hasExporters);
      for (const outcome of hasExporters && beginsSilent ? silentPrimary : []) {
        cluster.nowMs = Math.max(cluster.nowMs, sentAt(outcome));
        cluster.store.record(outcome, cluster.nowMs);
      }
      if (hasExporters && beginsSilent) cluster.nowMs += 600;
      const api = new NodeApi(cluster.routingContext, cluster.apiContext());
      const cache = api.cached();
      const given = new Map<string, unknown>();
      const compare = (): void => {
        for (const target of requested) {
          const chunk = `GET ${target} HTTP/1.1\r\n\r\n`;
          const found = cache.find(chunk);
          if (given.get(chunk) === found) count(target, String(found?.bytes.toString("latin1")));
          given.set(chunk, found);
          assert.ok((found?.validUntilMs ?? 0) <= cluster.nowMs + 1_000, "observed_at may be a second old");
          assert.equal(lasting(found?.bytes), lasting(api.render(chunk)?.bytes), `${target} at ${cluster.nowMs}`);
        }
      };
      // A response is cached from its second request on.
      for (const stepMs of [0, 10, 20, 30]) {
        cluster.nowMs += stepMs;
        compare();
      }
      for (const { event, afterMs, answeredAfterMs } of events) {
        cluster.nowMs += afterMs;
        compare();
        const outcome = event.kind === "made" ? event.make(cluster.nowMs) : again(cluster, event.node);
        cluster.nowMs += answeredAfterMs;
        if (outcome !== null) cluster.store.record(outcome, cluster.nowMs);
        compare();
      }
    }),
    { numRuns: 1_000 },
  );
  assert.ok(counts.all > 10_000, JSON.stringify(counts));
  for (const [kind, times] of Object.entries(counts)) assert.ok(times > 20, `${kind} was cached ${times} times`);
});

/** The node's last answer again, as reported by a prober that recognises it. `null` for a node that never answered. */
function again(cluster: StoreFixture, node: string): ProbeOutcome | null {
  const { nodes, index } = cluster.state();
  const known = nodes[index.get(node) ?? -1];
  if (known === undefined || known.report === null) return null;
  const { report, hasLock } = known;
  const { nowMs } = cluster;
  return { kind: "status", cluster: "demo", node, sentAtMs: nowMs, sentAtWallMs: nowMs, result: { report, hasLock } };
}

function healthy(node: Node, megabytes: number, atMs: number): ProbeOutcome {
  const at = 0x5000000 + megabytes * 2 ** 20;
  const isLeader = node === "pg1";
  const senders = isLeader ? ["pg2", "pg3"].map((name) => ({ name, address: null, state: "streaming" })) : [];
  const positions = isLeader ? { location: at } : { received: at, replayed: at };
  return statusOutcome(node, atMs, {
    hasLock: isLeader,
    role: isLeader ? "primary" : "replica",
    senders,
    ...positions,
  });
}

function drained({ node, extent }: { readonly node: Node; readonly extent: DrainExtent }, atMs: number): ProbeOutcome {
  const drain = { reason: "patching", by: null, extent, untilMs: atMs + 1_700, since: "", until: "" };
  return { kind: "drain", cluster: "demo", node, drain };
}

/** The values that do not change every millisecond: no lag in time, age of `stale` or rest of a hold. */
function lasting(bytes: Buffer | undefined): string | undefined {
  return bytes
    ?.toString("latin1")
    .replace(/"lag_ms":\d+/, '"lag_ms":0')
    .replace(/ stale \d+s\r/, " stale\r")
    .replace(/ lagging [\d.]+s\r/, " lagging\r")
    .replace(/ held_back \d+ms\r/, " held_back\r")
    .replace(/"observed_at":[^,]*,"snapshot":\d+/, "")
    .replace(/Content-Length: \d+/, "");
}
