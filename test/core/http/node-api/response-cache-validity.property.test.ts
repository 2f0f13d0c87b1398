import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { NodeApi } from "../../../../src/core/http/node-api/node-api.ts";
import { storeFixture, type StoreFixture } from "../../../fake/store-fixture.ts";
import { leaderViewOutcome, viewFailureOutcome } from "../../health/arbitraries.ts";

const targets = [
  "/nodes/pg1/primary",
  "/nodes/pg2/primary",
  "/nodes/pg1/liveness",
  "/nodes/pg2/replica?lag=1kB",
  "/nodes/pg2/replica?lag_time=700ms",
  "/nodes/pg3/replica",
  "/nodes/pg3/replica?min_lsn=1@0/800",
  "/nodes/pg2/patroni",
  "/nodes/pg2/replica?lag_time=2s&zone=a",
  "/clusters/demo/replica?zone=b",
  "/clusters/demo/primary",
  "/clusters/demo/replica?lag_time=2s",
  "/clusters/demo/read-only?keep=2&lag=1kB",
];

/** Durations around the thresholds of the judgement, in ms. */
const anyDurationMs = fc.oneof(
  fc.integer({ min: 0, max: 2_000 }),
  fc.constantFrom(0, 650, 690, 1_950, 4_950, 5_450, 6_950),
);

/** An event of the cluster, and the time since the previous event, in ms. */
const event = fc.record({
  afterMs: anyDurationMs,
  node: fc.constantFrom("pg1", "pg2", "pg3"),
  what: fc.constantFrom(
    ...([
      "answered",
      "answered",
      "answered",
      "unlocked",
      "claimed",
      "failed",
      "alive",
      "named",
      "viewless",
      "promoted",
      "no position",
      "history",
    ] as const),
  ),
  position: fc.integer({ min: 0, max: 5_000 }),
});

suite("how long a response may be cached", () => {
  test("rendering it again before that gives the same response, but for figures that grow", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.constantFrom(...targets),
        anyDurationMs,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (events, target, lastMs, share) => {
          const cluster = storeFixture();
          for (const { afterMs, ...happened } of events) {
            cluster.nowMs += afterMs;
            record(cluster, happened);
          }
          cluster.nowMs += lastMs;
          const api = new NodeApi(cluster.routingContext, cluster.apiContext());
          const chunk = `GET ${target} HTTP/1.1\r\n\r\n`;
          const rendered = api.render(chunk);
          assert.ok(rendered !== null && rendered.validUntilMs >= cluster.nowMs);
          if (rendered.validUntilMs === cluster.nowMs) return; // valid at this instant only, and never sent again
          const heldMs = rendered.validUntilMs - cluster.nowMs;
          cluster.nowMs = Math.min(cluster.nowMs + share * heldMs, rendered.validUntilMs - 0.001);
          assert.equal(withoutFigures(api.render(chunk)?.bytes), withoutFigures(rendered.bytes));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  test("a yes until its evidence is as old as a yes allows", () => {
    const cluster = storeFixture();
    cluster.nowMs += 5_000;
    const api = new NodeApi(cluster.routingContext, cluster.apiContext());
    assert.equal(api.render("GET /nodes/pg1/primary HTTP/1.1\r\n\r\n")?.validUntilMs, 1_000 + 5_500);
  });

  test("a growing lag in time is at most a tenth of a second old, and ends a yes where it passes the limit", () => {
    const cluster = storeFixture({ failoverHold: false });
    cluster.store.record(leaderViewOutcome("pg2", "pg3", cluster.nowMs), cluster.nowMs); // a leader that never answered
    const api = new NodeApi(cluster.routingContext, cluster.apiContext());
    const check = "GET /nodes/pg2/replica?lag_time=700ms HTTP/1.1\r\n\r\n";
    assert.equal(api.render(check)?.validUntilMs, cluster.nowMs + 100);
    cluster.nowMs += 650;
    assert.equal(api.render(check)?.validUntilMs, cluster.nowMs + 50);
    cluster.nowMs += 250;
    assert.match(String(api.render(check)?.bytes), / lagging 0\.9s\r/);
    // The leader's next answer may end the lag without a new revision of the cluster.
    assert.equal(api.render(check)?.validUntilMs, cluster.nowMs);
  });
});

function record(
  cluster: StoreFixture,
  { node, what, position }: { readonly node: string; readonly what: string; readonly position: number },
): void {
  const { nowMs } = cluster;
  if (what === "answered") cluster.recordReport(node, position);
  else if (what === "unlocked") cluster.recordReport(node, position, false);
  else if (what === "claimed") cluster.recordReport(node, position, true);
  else if (what === "named")
    cluster.store.record(
      leaderViewOutcome(nameAt(position), node === "pg3" ? null : nameAt(position + 1), nowMs),
      nowMs,
    );
  else if (what === "viewless") cluster.store.record(viewFailureOutcome(nameAt(position), nowMs), nowMs);
  // Two promotions in a row, and replicas that follow on any of the timelines.
  else if (what === "promoted")
    cluster.recordReport(node, position, position % 2 === 0, { timeline: 2 + (position % 3) });
  else if (what === "no position") cluster.recordReport(node, position, undefined, { isMute: true });
  else if (what === "history") {
    const served = { status: 200, body: "", source: node, sentAtMs: nowMs };
    cluster.store.record(
      { kind: "document", cluster: "demo", answer: { name: "history", served, history: new Map([[1, position]]) } },
      nowMs,
    );
  } else if (what === "alive")
    cluster.store.record(
      { kind: "liveness", cluster: "demo", node, sentAtMs: nowMs, isAlive: position % 2 === 0 },
      nowMs,
    );
  else {
    const result = { failure: { kind: "timeout", detail: "none" } } as const;
    cluster.store.record(
      { kind: "status", cluster: "demo", node, sentAtMs: nowMs, sentAtWallMs: nowMs, result },
      nowMs,
    );
  }
}

function nameAt(position: number): "pg1" | "pg2" | "pg3" {
  return (["pg1", "pg2", "pg3"] as const)[position % 3] ?? "pg1";
}

/** Without the lag in time and the age of `stale`: in a cached response they may be a tenth of a second old. */
function withoutFigures(bytes: Buffer | undefined): string | undefined {
  return bytes
    ?.toString("latin1")
    .replace(/"lag_ms":\d+/, '"lag_ms":0')
    .replace(/ stale \d+s\r/, " stale\r")
    .replace(/ lagging [\d.]+s\r/, " lagging\r")
    .replace(/Content-Length: \d+/, "");
}
