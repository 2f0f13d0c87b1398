import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import type { Recorded } from "../../src/core/cluster/outcome.ts";
import { incidentPieces } from "../../src/core/events/incident/incident-file.ts";
import { incidentSubject } from "../../src/core/events/incident/incident-subject.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import {
  statusOutcome,
  observeAll,
  leaderViewOutcome,
  sentAt,
  policyOf,
  failedOutcome,
  unprobedCluster,
  viewFailureOutcome,
} from "../core/health/arbitraries.ts";
import { reportOf } from "../fake/node-documents.ts";
import { lastSight, readIncident } from "./play.ts";

const policy = policyOf();
/** A document that has pg2's address under another name. */
const byAddress = {
  scope: "demo",
  members: [],
  leftOut: [],
  isPartial: false,
  isLeaderUnreadable: false,
  leader: "node-b",
  leaderApi: "http://pg2",
  leaderTimeline: null,
};

test("an exported incident has the view of each witness, and none where there was none, and leads to the same decision", () => {
  const outcomes = [
    ...(["pg3", "pg4"] as const).map((node) => statusOutcome(node, 0)),
    statusOutcome("pg1", 0, { hasLock: true }),
    statusOutcome("pg1", 1_000, { hasLock: true }),
    statusOutcome("pg2", 1_000, { hasLock: true }),
    leaderViewOutcome("pg1", "pg1", 1_100),
    viewFailureOutcome("pg4", 1_100),
    {
      kind: "document",
      cluster: "demo",
      answer: {
        name: "cluster",
        served: { status: 200, body: "", source: "pg3", sentAtMs: 1_100 },
        cluster: byAddress,
      },
    },
    failedOutcome("pg4", 1_200),
  ] as const;
  const cluster = observeAll(unprobedCluster(), outcomes, policy);
  assert.deepEqual(viewAt(cluster, policy, 1_300).lock.holder, "pg2");
  const recorded: readonly Recorded[] = outcomes.map((outcome) => ({
    atMs: sentAt(outcome),
    atWallMs: sentAt(outcome),
    outcome,
  }));
  const text = [
    ...incidentPieces({
      subject: incidentSubject(cluster, policy),
      instantMs: 1_200,
      recorded,
      accused: new Map(),
      isComplete: true,
    }),
  ].join("");
  assert.match(text, /views: \{ pg4: \{ failure: timeout \} \}|views:\n\s+pg4:\n\s+failure: timeout/);
  const replayed = lastSight(readIncident(text, "views.yaml"));
  assert.equal(replayed.lock.holder, "pg2");
  assert.deepEqual(replayed.cluster.leadership.decision, cluster.leadership.decision);
  assert.deepEqual([...replayed.cluster.failedViews.keys()], ["pg4"]);
});

test("an exported incident says that evidence is left out, and keeps line separators within values", () => {
  const report = reportOf("pg1", { tags: { x: "\u2028  x" } });
  const probe = { kind: "status", cluster: "demo", node: "pg1", sentAtMs: 0, sentAtWallMs: 0 } as const;
  const outcome = { ...probe, result: { report, hasLock: false } };
  const recorded: readonly Recorded[] = [{ atMs: 0, atWallMs: 0, outcome }];
  for (const isComplete of [true, false]) {
    const subject = incidentSubject(unprobedCluster(), policy);
    const incident = { subject, instantMs: 0, recorded, accused: new Map(), isComplete };
    const text = [...incidentPieces(incident)].join("");
    assert.equal(/^why: .*Incomplete: evidence of this time is left out/m.test(text), !isComplete);
    assert.ok(JSON.stringify(parse(text)).includes('"\u2028  x"'), text);
  }
});

test("views by hand name a node, nobody, or why there is none", () => {
  const incident = readIncident(
    `name: views
why: a test
cluster: { nodes: [pg1, pg2, pg3] }
steps:
  - { at: 0s, nodes: { pg1: { lock: true }, pg2: {}, pg3: {} } }
  - { at: 1s, views: { pg1: pg2, pg2: null, pg3: { failure: timeout } } }`,
    "views.yaml",
  );
  const { cluster: state } = lastSight(incident);
  assert.deepEqual(
    [...state.leaderViews].map(([witness, { names }]) => [witness, names]),
    [
      ["pg1", "pg2"],
      ["pg2", null],
    ],
  );
  assert.deepEqual([...state.failedViews.keys()], ["pg3"]);
});

test("an exported incident has the empty texts that a node reported", () => {
  const fields = {
    replication: [{ application_name: "", client_addr: "", state: "" }],
    replication_state: "",
    database_system_identifier: "",
    patroni: { version: "", scope: "", name: "" },
    tags: { zone: "" },
  };
  const report = reportOf("pg1", fields);
  assert.equal(report.senders[0]?.name, "");
  const outcomes = [statusOutcome("pg1", 0, { ...report, hasLock: true })];
  const cluster = observeAll(unprobedCluster(), outcomes, policy);
  const recorded: readonly Recorded[] = outcomes.map((outcome) => ({
    atMs: sentAt(outcome),
    atWallMs: sentAt(outcome),
    outcome,
  }));
  const subject = incidentSubject(cluster, policy);
  const pieces = [...incidentPieces({ subject, instantMs: 0, recorded, accused: new Map(), isComplete: true })];
  const { cluster: replayed } = lastSight(readIncident(pieces.join(""), "night.yaml"));
  assert.deepEqual({ ...replayed.nodes[0]?.report, document: null }, { ...report, document: null });
});
