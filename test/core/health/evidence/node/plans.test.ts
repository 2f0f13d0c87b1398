import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseReport } from "../../../../../src/core/cluster/documents/report.ts";
import { nodeMarks, scheduledSwitchover, statedLags } from "../../../../../src/core/health/evidence/node/plans.ts";
import type { CachedDocument } from "../../../../../src/core/cluster/snapshot.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

/** The part of a vector that is read here. */
interface RecordedNodes {
  readonly nodes: {
    readonly pg1: {
      readonly leader: { readonly doc: unknown };
      readonly cluster: {
        readonly doc: {
          readonly members: readonly {
            readonly name: string;
            readonly role: string;
            readonly receive_lag: number;
            readonly replay_lag: number;
          }[];
        };
      };
    };
  };
}

function viewOf({ cluster, policy }: ClusterFixture, nowMs: number): Parameters<typeof statedLags>[0] {
  return { cluster, policy, nowMs };
}

function planOf(fields: Readonly<Record<string, unknown>>): ReturnType<typeof nodeMarks> {
  return nodeMarks(parseReport({ state: "running", role: "replica", ...fields }) ?? null);
}

function switchoverIn(document: unknown, status = 200): ReturnType<typeof scheduledSwitchover> {
  const body = typeof document === "string" ? document : JSON.stringify(document);
  return scheduledSwitchover({ status, body, source: "pg1", sentAtMs: 0 });
}

const none = {
  pending_restart: false,
  pending_restart_reason: [],
  scheduled_restart: null,
  watchdog_failed: false,
};
const at = "2026-01-31T23:00:00+00:00";

test("a node says whether it needs a restart, and when one is scheduled", () => {
  assert.deepEqual(planOf({}), none);
  assert.deepEqual(nodeMarks(null), none);
  assert.deepEqual(planOf({ pending_restart: true }), { ...none, pending_restart: true });
  assert.deepEqual(planOf({ scheduled_restart: { schedule: at } }), { ...none, scheduled_restart: at });
});

test("values of another type are no plan", () => {
  assert.deepEqual(planOf({ pending_restart: "yes", scheduled_restart: at }), none);
  assert.deepEqual(planOf({ scheduled_restart: { schedule: "a\nb" } }), none);
});

test("the cluster document says when the cluster switches over, and to whom if that is decided", () => {
  const plan = { at, from: "pg1", to: "pg2" };
  assert.deepEqual(switchoverIn({ members: [], scheduled_switchover: plan }), plan);
  assert.deepEqual(switchoverIn({ scheduled_switchover: { at, from: "pg1" } }), { at, from: "pg1", to: null });
});

test("a missing, refused or unreadable cluster document has no plan", () => {
  assert.equal(scheduledSwitchover(null), null);
  assert.equal(switchoverIn({ members: [] }), null);
  assert.equal(switchoverIn({ scheduled_switchover: { at } }, 503), null);
  assert.equal(switchoverIn('"scheduled_switchover"'), null);
  assert.equal(switchoverIn('{"scheduled_switchover": '), null);
  assert.equal(switchoverIn({ scheduled_switchover: { from: "pg1" } }), null);
});

test("a cluster document that is no strict JSON is read by its strict form", () => {
  const plan = { at, from: "pg1", to: null };
  const strict = JSON.stringify({ members: [{ name: "pg1", tags: { weight: null } }], scheduled_switchover: plan });
  const served = { status: 200, body: strict.replace('"weight":null', '"weight":NaN'), source: "pg1", sentAtMs: 0 };
  assert.equal(scheduledSwitchover(served), null);
  assert.deepEqual(scheduledSwitchover({ ...served, strict }), plan);
});

test("a node says for which parameters it needs a restart, and that its watchdog failed", () => {
  const change = { old_value: "50", new_value: "60" };
  assert.deepEqual(
    planOf({ pending_restart: true, pending_restart_reason: { max_connections: change }, watchdog_failed: true }),
    {
      ...none,
      pending_restart: true,
      pending_restart_reason: ["max_connections: 50 -> 60"],
      watchdog_failed: true,
    },
  );
  assert.deepEqual(planOf({ pending_restart_reason: { max_connections: change }, watchdog_failed: "yes" }), none);
});

test("hostile reasons are left out, and at most eight are read", () => {
  const reasonsIn = (reasons: unknown): readonly string[] =>
    planOf({ pending_restart: true, pending_restart_reason: reasons }).pending_restart_reason;
  const change = { old_value: 1, new_value: "2" };
  for (const reasons of [
    null,
    "max_connections",
    [],
    { a: null },
    { a: { old_value: "1" } },
    { a: { old_value: "1", new_value: { b: 1 } } },
    { a: { old_value: "\u001b[2J", new_value: "2" } },
    { ["a".repeat(65)]: change },
    { a: { old_value: "1", new_value: "2".repeat(65) } },
  ])
    assert.deepEqual(reasonsIn(reasons), [], JSON.stringify(reasons));
  assert.deepEqual(reasonsIn({ a: { old_value: "\u202e1", new_value: 2 } }), ["a: ?1 -> 2"]);
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, change]));
  assert.equal(reasonsIn(many).length, 8);
  const [name, value] = ["a".repeat(64), "2".repeat(64)];
  assert.deepEqual(reasonsIn({ [name]: { old_value: 1, new_value: value } }), [`${name}: 1 -> ${value}`], "64 fit");
});

const vectors = join("test", "vectors", "node-api", "4.1.4", "pending-restart-and-scheduled-switchover.json");

test("what a real Patroni 4.1 states is read", () => {
  const recorded: RecordedNodes = JSON.parse(readFileSync(vectors, "utf8"));
  const watched = new ClusterFixture();
  watched.document("cluster", { of: "pg1", value: recorded.nodes.pg1.cluster.doc }, 0);
  const leader = recorded.nodes.pg1.cluster.doc.members.find(({ role }) => role === "leader");
  const lags = statedLags(viewOf(watched, 1_000));
  const stated = recorded.nodes.pg1.cluster.doc.members.filter(({ role }) => role !== "leader");
  assert.deepEqual(
    lags,
    Object.fromEntries(stated.map(({ name, receive_lag, replay_lag }) => [name, { receive_lag, replay_lag }])),
  );
  assert.equal(lags[leader?.name ?? ""], undefined);
  assert.deepEqual(statedLags(viewOf(watched, 60_000)), {}, "too old");
  const report = parseReport(recorded.nodes.pg1.leader.doc) ?? null;
  assert.deepEqual(nodeMarks(report).pending_restart_reason, ["max_connections: 50 -> 60"]);
});

test("lags of another type, and of nodes that are not known, are not read", () => {
  const watched = new ClusterFixture();
  const lagsOf = (members: unknown): unknown => {
    watched.document("cluster", { of: "pg1", value: { members } }, 0);
    return statedLags(viewOf(watched, 0));
  };
  const api = "http://pg2:8008/patroni";
  assert.deepEqual(lagsOf([{ name: "pg2", api_url: api, receive_lag: "unknown", replay_lag: "unknown" }]), {});
  assert.deepEqual(lagsOf([{ name: "pg2", api_url: api, receive_lag: -1, replay_lag: 1e300 }]), {});
  assert.deepEqual(lagsOf([{ name: "pg2", api_url: api, receive_lag: 7, replay_lag: "unknown" }]), {
    pg2: { receive_lag: 7, replay_lag: null },
  });
});

test("lags are read from a fresh cluster document, by member", () => {
  const watched = new ClusterFixture({ nodes: [{ name: "pg1", member: "one", api: "http://pg1:8008" }, "pg2"] });
  const { viewMaxAgeMs } = watched.policy;
  const members = [
    { name: "one", receive_lag: 3, replay_lag: 7 },
    { name: "pg1", receive_lag: 90, replay_lag: 90 },
    { name: "pg2", receive_lag: "unknown", replay_lag: 5 },
  ];
  const strict = JSON.stringify({ members, note: null });
  const fresh: CachedDocument = { status: 200, body: strict, source: "pg1", sentAtMs: 1_000 };
  const lagsOf = (served: CachedDocument, nowMs: number): unknown => {
    const documents = { ...watched.cluster.documents, cluster: served };
    return statedLags({ cluster: { ...watched.cluster, documents }, policy: watched.policy, nowMs });
  };
  const stated = { pg1: { receive_lag: 3, replay_lag: 7 }, pg2: { receive_lag: null, replay_lag: 5 } };
  assert.deepEqual(lagsOf(fresh, 1_000), stated);
  assert.deepEqual(lagsOf(fresh, 1_000 + viewMaxAgeMs - 1), stated);
  assert.deepEqual(lagsOf(fresh, 1_000 + viewMaxAgeMs), {}, "too old");
  assert.deepEqual(lagsOf({ ...fresh, status: 503 }, 1_000), {}, "refused");
  const unreadable = { ...fresh, body: strict.replace('"note":null', '"note":NaN') };
  assert.deepEqual(lagsOf(unreadable, 1_000), {});
  assert.deepEqual(lagsOf({ ...unreadable, strict }, 1_000), stated);
});
