import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isAgainstSessions } from "../../../src/core/health/reason.ts";
import { statedOf } from "../../../src/core/health/verdict.ts";
import { routes, type Route } from "../../../src/core/health/route.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const names = ["pg1", "pg2", "pg3"] as const;
const fields = fc.record(
  {
    role: fc.constantFrom("primary", "replica", "standby_leader", "demoted"),
    state: fc.constantFrom("running", "stopping", "starting", "crashed", "start failed", "unknown"),
    timeline: fc.integer({ min: 1, max: 3 }),
    xlog: fc.oneof(
      fc.record({ location: fc.nat(9_000) }),
      fc.record({ received_location: fc.nat(9_000), replayed_location: fc.nat(9_000) }),
    ),
    sync_standby: fc.boolean(),
    tags: fc.constantFrom({}, { noloadbalance: true }, { zone: "a" }),
    database_system_identifier: fc.constantFrom("1", "1", "1", "2"),
    patroni: fc.constantFrom(
      { version: "4.1.4", scope: "demo" },
      { version: "3.0.2", scope: "demo" },
      { version: "4.1.4", scope: "other" },
    ),
  },
  { requiredKeys: [] },
);

type Event =
  | { readonly kind: "answer"; readonly node: string; readonly hasLock: boolean; readonly fields: object }
  | { readonly kind: "fail"; readonly node: string; readonly by: "refused" | "timeout" }
  | { readonly kind: "named"; readonly of: string; readonly leader: string | null; readonly timeline: number }
  | { readonly kind: "history" | "config"; readonly of: string }
  | { readonly kind: "alive"; readonly node: string; readonly isAlive: boolean }
  | { readonly kind: "silence" };

const name = fc.constantFrom(...names);
const happening: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("answer" as const), node: name, hasLock: fc.boolean(), fields }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("fail" as const),
      node: name,
      by: fc.constantFrom("refused" as const, "timeout" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("named" as const),
      of: name,
      leader: fc.option(name),
      timeline: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("history" as const, "config" as const), of: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("alive" as const), node: name, isAlive: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "silence" as const }) },
);
/** An event, and the milliseconds since the last one. */
const events = fc.array(fc.tuple(happening, fc.oneof(fc.nat(900), fc.nat(9_000))), { minLength: 1, maxLength: 25 });

function happen(watched: ClusterFixture, event: Event, atMs: number): void {
  switch (event.kind) {
    case "answer":
      return watched.answer(event.node, { hasLock: event.hasLock, fields: { ...event.fields } }, atMs);
    case "fail":
      return watched.fail(event.node, event.by, atMs);
    case "named":
      return watched.nameLeader(event.leader, event.of, atMs, { timeline: event.timeline });
    case "history":
      return watched.document("history", { of: event.of, value: [[1, 4_000, "no recovery target specified"]] }, atMs);
    case "config":
      return watched.document("config", { of: event.of, value: { ttl: 20, loop_wait: 5, retry_timeout: 10 } }, atMs);
    case "alive":
      return watched.recordLiveness(event.node, event.isAlive, atMs);
    case "silence":
      return undefined;
  }
}

/** Plays events one after the other and checks the cluster after each. */
function play(
  timeline: readonly (readonly [Event, number])[],
  look: (watched: ClusterFixture, nowMs: number) => void,
): void {
  const watched = new ClusterFixture({ policy: { fall: 2 } });
  let nowMs = 0;
  for (const [event, afterMs] of timeline) {
    nowMs += afterMs;
    happen(watched, event, nowMs);
    look(watched, nowMs);
  }
}

const yes: readonly string[] = ["fit", "degraded"];

test("at most one node of any snapshot is fit as primary, at any later instant", () => {
  fc.assert(
    fc.property(events, fc.array(fc.nat(7_000), { maxLength: 4 }), (timeline, waits) => {
      play(timeline, (watched, nowMs) => {
        const instants = [nowMs, ...waits.map((wait) => nowMs + wait)];
        for (const check of ["primary", "leader", "standby-leader"]) {
          const fit = new Set(
            instants.flatMap((instant) => names.filter((node) => watched.judge(node, check, instant) === "fit")),
          );
          assert.ok(fit.size <= 1, `${check}: ${[...fit].join(" and ")}`);
        }
      });
    }),
    { numRuns: 300 },
  );
});

test("a stale node is fit for nothing but liveness", () => {
  const checked = routes.filter((route) => route !== "liveness");
  fc.assert(
    fc.property(events, fc.nat(20_000), (timeline, waitMs) => {
      play(timeline, (watched, nowMs) => {
        for (const { node, sentAtMs } of watched.cluster.nodes) {
          if (nowMs + waitMs - sentAtMs < watched.policy.maxAgeMs) continue;
          for (const route of checked)
            assert.ok(!yes.includes(watched.judge(node.name, route, nowMs + waitMs)), `${node.name} ${route}`);
        }
      });
    }),
    { numRuns: 300 },
  );
});

test("no parameter makes a stale node fit", () => {
  fc.assert(
    fc.property(
      events,
      fc.constantFrom("keep=2&lag=0", "keep=1&lag=100", "fallback=primary", "lag=1GB"),
      (timeline, query) => {
        play(timeline, (watched, nowMs) => {
          const laterMs = nowMs + watched.policy.maxAgeMs;
          for (const node of names) assert.ok(!yes.includes(watched.judge(node, `replica?${query}`, laterMs)));
        });
      },
    ),
    { numRuns: 100 },
  );
});

test("a node that is fit within a lag limit is fit within every higher limit", () => {
  const limits = fc
    .tuple(fc.nat(10_000), fc.nat(10_000))
    .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);
  const route = fc.constantFrom<Route>("replica", "read-only", "sync", "async", "readiness");
  fc.assert(
    fc.property(events, limits, route, (timeline, [tight, wide], checked) => {
      play(timeline, (watched, nowMs) => {
        for (const node of names) {
          const isFit = (limit: number): boolean => watched.judge(node, `${checked}?lag=${limit}`, nowMs) === "fit";
          assert.ok(!isFit(tight) || isFit(wide), `${node} ${checked}: fit within ${tight}, not within ${wide}`);
        }
      });
    }),
    { numRuns: 300 },
  );
});

test("a clock jump never turns a no into a yes, except for liveness", () => {
  const checks = [
    ...routes.filter((route) => route !== "liveness"),
    "replica?lag=1000",
    "replica?tag_zone=a",
    "replica?min_lsn=0/1000",
  ];
  fc.assert(
    fc.property(events, fc.nat(20_000), (timeline, jumpMs) => {
      play(timeline, (watched, nowMs) => {
        for (const node of names) {
          for (const check of checks) {
            const before = watched.judge(node, check, nowMs);
            const after = watched.judge(node, check, nowMs + jumpMs);
            assert.ok(
              yes.includes(before) || !yes.includes(after),
              `${node} ${check}: ${before}, ${jumpMs} ms later ${after}`,
            );
          }
        }
      });
    }),
    { numRuns: 300 },
  );
});

test("open sessions may live where new ones may come, and where nothing speaks against the node; limits do not matter", () => {
  const counts = { live: 0, cut: 0, "passed over": 0, demoted: 0 };
  fc.assert(
    fc.property(
      events,
      fc.nat(20_000),
      fc.constantFrom("lag=0&keep=1&", "fallback=primary&", ""),
      (timeline, waitMs, query) => {
        play(timeline, (watched, nowMs) => {
          for (const node of names) {
            for (const route of routes) {
              const atMs = nowMs + waitMs;
              const sessions = watched.verdict(node, `${route}?${query}for=sessions`, atMs);
              const plain = watched.verdict(node, `${route}?${query}`, atMs);
              assert.ok(sessions !== null && plain !== null);
              const text = `${node} ${route}?${query}: ${JSON.stringify(plain)}, sessions ${JSON.stringify(sessions)}`;
              if (plain.fit) assert.ok(sessions.fit && sessions.passedOver === null, text);
              else if (plain.reason === "down") assert.equal(statedOf(sessions)?.reason, "down", text);
              else if (isAgainstSessions(plain.reason))
                assert.equal(sessions.fit || sessions.reason, plain.reason, text);
              else if (plain.reason === "blind" || plain.reason === "unknown") assert.ok(sessions.fit, text);
              if (!sessions.fit) assert.ok(isAgainstSessions(sessions.reason), text);
              if (sessions.fit && sessions.passedOver !== null)
                assert.ok(!plain.fit && plain.reason === sessions.passedOver.reason, text);
              if (!query.startsWith("fallback"))
                assert.deepEqual(sessions, watched.verdict(node, `${route}?for=sessions`, atMs), text);
              counts[sessions.fit ? (sessions.passedOver === null ? "live" : "passed over") : "cut"] += 1;
              if (!sessions.fit && sessions.reason === "demoted") counts.demoted += 1;
            }
          }
        });
      },
    ),
    { numRuns: 300 },
  );
  for (const [kind, times] of Object.entries(counts)) assert.ok(times > 20, `${kind}: ${times}`);
});

test("observe does not mutate the state it is given", () => {
  fc.assert(
    fc.property(events, (timeline) => {
      let held: { cluster: ClusterFixture["cluster"]; text: string } | null = null;
      play(timeline, ({ cluster }) => {
        if (held !== null) assert.equal(JSON.stringify(held.cluster), held.text);
        held = { cluster, text: JSON.stringify(cluster) };
      });
    }),
    { numRuns: 100 },
  );
});
