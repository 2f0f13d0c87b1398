import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { nodeNamed } from "../../../src/cluster/lookup.ts";
import type { ProbeOutcome } from "../../../src/cluster/outcome.ts";
import { NodeApi } from "../../../src/http/node-api/node-api.ts";
import { storeFixture, type StoreFixture } from "../../fake/store-fixture.ts";
import { anyEvent, statusOutcome, leaderViewOutcome } from "../../health/arbitraries.ts";

const routes = [
  "primary",
  "leader",
  "replica",
  "replica?lag=1MB",
  "replica?lag=0&keep=1",
  "replica?lag_time=700ms",
  "replica?lag_time=2s&keep=2",
  "replica?lag=2MB&lag_time=3s&fallback=primary",
  "replica?min_lsn=0/5200000&miss=404",
  "replica?replication_state=streaming",
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
const places = ["/nodes/pg1/", "/nodes/pg2/", "/nodes/pg3/", "/clusters/demo/"];
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

/** Most of the time a node says again what it said last; the seldom rest is whatever may be heard of a cluster. */
const happening = fc.oneof(
  { weight: 24, arbitrary: anyNode.map((name): Event => ({ kind: "again", node: name })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(anyNode, fc.integer({ min: 0, max: 3 }))
      .map(([name, megabytes]) => made((atMs) => healthy(name, megabytes, atMs))),
  },
  { weight: 3, arbitrary: anyEvent.map(made) },
  { weight: 1, arbitrary: fc.constant(made((atMs) => leaderViewOutcome("pg2", "pg1", atMs))) },
  {
    weight: 1,
    arbitrary: fc.record({ node: anyNode, isAll: fc.boolean() }).map((wish) => made((atMs) => drained(wish, atMs))),
  },
);

const told = fc.record({
  guards: fc.record({
    lagSamples: fc.constantFrom(1, 1, 2),
    dwellMs: fc.constantFrom(0, 0, 3_000),
    handoverHoldMs: fc.constantFrom(0, 1_500),
    attachWindowMs: fc.constantFrom(1_500, 10_000),
    exclusivePrimary: fc.constantFrom(true, true, false),
  }),
  asked: fc.array(fc.constantFrom(...targets), { minLength: 4, maxLength: 8 }),
  events: fc.array(
    fc.record({
      event: happening,
      /** Since the event before, and from the sending of the probe to its answer, in ms. */
      afterMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom(900, 1_950, 5_450)),
      answeredAfterMs: fc.constantFrom(0, 1, 40),
    }),
    { maxLength: 30 },
  ),
});

test("an answer that is kept over probes is the one that would be made now, but for figures that grow and when it was observed", () => {
  let kept = 0;
  fc.assert(
    fc.property(told, ({ guards, asked, events }) => {
      const cluster = storeFixture(guards);
      const dialect = new NodeApi(cluster.routingContext, cluster.apiContext());
      const hot = dialect.cached();
      const given = new Map<string, unknown>();
      const compare = (): void => {
        for (const target of asked) {
          const chunk = `GET ${target} HTTP/1.1\r\n\r\n`;
          const found = hot.find(chunk);
          if (given.get(chunk) === found) kept += 1;
          given.set(chunk, found);
          assert.ok((found?.validUntilMs ?? 0) <= cluster.nowMs + 1_000, "when it was observed may be a second old");
          assert.equal(lasting(found?.bytes), lasting(dialect.render(chunk)?.bytes), `${target} at ${cluster.nowMs}`);
        }
      };
      compare();
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
  assert.ok(kept > 10_000, `only ${kept} answers were kept`);
});

/** The node's last word once more, as a prober that recognises it tells it; `null` of one that was never heard. */
function again(cluster: StoreFixture, node: string): ProbeOutcome | null {
  const known = nodeNamed(cluster.state(), node);
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

function drained({ node, isAll }: { readonly node: Node; readonly isAll: boolean }, atMs: number): ProbeOutcome {
  const drain = { reason: "patching", by: null, isAll, untilMs: atMs + 1_700, since: "", until: "" };
  return { kind: "drain", cluster: "demo", node, drain };
}

/** What does not grow from moment to moment: lag in time, the age behind `stale` and what is left of a hold do, and may be a tenth of a second old. */
function lasting(bytes: Buffer | undefined): string | undefined {
  return bytes
    ?.toString("latin1")
    .replace(/"lag_ms":\d+/, '"lag_ms":0')
    .replace(/ stale \d+s\r/, " stale\r")
    .replace(/ held_back \d+ms\r/, " held_back\r")
    .replace(/"observed_at":[^,]*,"snapshot":\d+/, "")
    .replace(/Content-Length: \d+/, "");
}
