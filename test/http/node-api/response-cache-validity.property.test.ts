import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { NodeApi } from "../../../src/http/node-api/node-api.ts";
import { storeFixture, type StoreFixture } from "../../fake/store-fixture.ts";
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
  "/clusters/demo/primary",
  "/clusters/demo/replica?lag_time=2s",
  "/clusters/demo/read-only?keep=2&lag=1kB",
];

/** Spans around the thresholds that judgement knows, in ms. */
const spanMs = fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.constantFrom(0, 650, 690, 1_950, 4_950, 5_450, 6_950));

/** What befalls the cluster, with the time since the last of it in ms. */
const event = fc.record({
  afterMs: spanMs,
  node: fc.constantFrom("pg1", "pg2", "pg3"),
  what: fc.constantFrom(
    ...([
      "heard",
      "heard",
      "heard",
      "unlocked",
      "claimed",
      "failed",
      "alive",
      "named",
      "viewless",
      "promoted",
      "mute",
      "history",
    ] as const),
  ),
  position: fc.integer({ min: 0, max: 5_000 }),
});

suite("an answer's horizon", () => {
  test("until it, an answer stays what it is, but for figures that grow", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 6 }),
        fc.constantFrom(...targets),
        spanMs,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (events, target, lastMs, share) => {
          const cluster = storeFixture();
          for (const { afterMs, ...befallen } of events) {
            cluster.nowMs += afterMs;
            befall(cluster, befallen);
          }
          cluster.nowMs += lastMs;
          const dialect = new NodeApi(cluster.routingContext, cluster.apiContext());
          const chunk = `GET ${target} HTTP/1.1\r\n\r\n`;
          const rendered = dialect.render(chunk);
          assert.ok(rendered !== null && rendered.validUntilMs >= cluster.nowMs);
          if (rendered.validUntilMs === cluster.nowMs) return; // true only now, and never given again
          const heldMs = rendered.validUntilMs - cluster.nowMs;
          cluster.nowMs = Math.min(cluster.nowMs + share * heldMs, rendered.validUntilMs - 0.001);
          assert.equal(withoutFigures(dialect.render(chunk)?.bytes), withoutFigures(rendered.bytes));
        },
      ),
      { numRuns: 6_000 },
    );
  });

  test("a fresh yes is true until its evidence is as old as a yes allows", () => {
    const cluster = storeFixture();
    cluster.nowMs += 5_000;
    const dialect = new NodeApi(cluster.routingContext, cluster.apiContext());
    assert.equal(dialect.render("GET /nodes/pg1/primary HTTP/1.1\r\n\r\n")?.validUntilMs, 1_000 + 5_500);
  });

  test("a lag in time that begins to grow this moment is looked at anew for each question that limits it", () => {
    const cluster = storeFixture();
    cluster.store.record(leaderViewOutcome("pg2", "pg3", cluster.nowMs), cluster.nowMs); // a leader that was never heard
    const dialect = new NodeApi(cluster.routingContext, cluster.apiContext());
    const check = "GET /nodes/pg2/replica?lag_time=700ms HTTP/1.1\r\n\r\n";
    assert.equal(dialect.render(check)?.validUntilMs, cluster.nowMs);
    cluster.nowMs += 900;
    assert.match(String(dialect.render(check)?.bytes), / lagging 0\.9s\r/);
  });
});

function befall(
  cluster: StoreFixture,
  { node, what, position }: { readonly node: string; readonly what: string; readonly position: number },
): void {
  const { nowMs } = cluster;
  if (what === "heard") cluster.recordReport(node, position);
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
  else if (what === "mute") cluster.recordReport(node, position, undefined, { isMute: true });
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

/** Lag in time and the age behind `stale` grow from moment to moment; an answer that is kept may show them a tenth of a second old. */
function withoutFigures(bytes: Buffer | undefined): string | undefined {
  return bytes
    ?.toString("latin1")
    .replace(/"lag_ms":\d+/, '"lag_ms":0')
    .replace(/ stale \d+s\r/, " stale\r")
    .replace(/Content-Length: \d+/, "");
}
