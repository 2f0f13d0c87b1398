import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { emptyCluster } from "../../src/core/cluster/empty-cluster.ts";
import { neverProbed } from "../../src/core/cluster/observation.ts";
import type { ProbeOutcome, Recorded } from "../../src/core/cluster/outcome.ts";
import { incidentPieces, type RecordedCluster } from "../../src/core/events/incident/incident-file.ts";
import { incidentSubject } from "../../src/core/events/incident/incident-subject.ts";
import { viewAt, type ClusterView } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { withNodes } from "../../src/core/health/observe/membership.ts";
import { answerTo, parseQuestion } from "../../src/features/replay/core/question.ts";
import { Store, type MonitoredCluster } from "../../src/core/state/store.ts";
import { policyOf, statusOutcome, failedOutcome } from "../core/health/arbitraries.ts";
import { lastSight, readIncident } from "./play.ts";

const chain = ["dr", "middle", "main"] as const;
const nodes = ["pg1", "pg2"] as const;
const questions = nodes.flatMap((node) =>
  ["/standby-leader?lag=2MB", "/read-only?lag_time=3s", "/replica?lag=2MB", "/replica?lag_time=3s"].map(
    (check) => `${node} ${check}`,
  ),
);

test("an incident file of a standby cluster carries its sources, and a replay answers alike", () => {
  const step = fc.record({
    cluster: fc.constantFrom(...chain),
    node: fc.constantFrom(...nodes),
    afterMs: fc.integer({ min: 1, max: 2_000 }),
    position: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 6 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const store = new Store("test", chain.map(monitored));
      const recorded = new Map<string, Recorded[]>(chain.map((name) => [name, []]));
      let atMs = 0;
      for (const { cluster, node, afterMs, position } of steps) {
        atMs += afterMs;
        const outcome = { ...outcomeOf(cluster, node, atMs, position), cluster };
        store.record(outcome, atMs);
        recorded.get(cluster)?.push({ atMs, atWallMs: atMs, outcome });
      }
      const [first, ...sources] = chain.map((name): RecordedCluster => {
        const [state, policy] = [store.current.clusters.find((one) => one.name === name), store.policyOf(name)];
        assert.ok(state !== undefined && policy !== undefined);
        const subject = incidentSubject(state, policy);
        return { subject, recorded: recorded.get(name) ?? [], accused: new Map(), isComplete: true };
      });
      assert.ok(first !== undefined);
      const text = [...incidentPieces({ ...first, sources, instantMs: atMs })].join("");
      const incident = readIncident(text, "dr.yaml");
      const began = incident.beganWallMs ?? 0;
      const live = store.current.clusters[0];
      assert.ok(live !== undefined);
      const replayed = lastSight(incident).cluster;
      const answers = (view: ClusterView): readonly string[] =>
        questions.map((question) => answerTo(view, parseQuestion(question, incident)).join());
      assert.deepEqual(
        answers(viewAt(replayed, incident.policy, atMs - began)),
        answers(viewAt(live, policyOf(), atMs)),
        text,
      );
    }),
  );
});

test("a source of the cluster's own name, and an unknown key in it, are refused", () => {
  const file = (source: string): string =>
    `name: n\nwhy: w\ncluster: { name: dr, nodes: [pg1] }\nsource: ${source}\nsteps: []\n`;
  const named = "{ cluster: { name: dr, nodes: [pg1] }, steps: [] }";
  assert.throws(
    () => readIncident(file(named), "a.yaml"),
    /must be another name than that of its standby cluster, got "dr"/,
  );
  const flips = "{ cluster: { name: main, nodes: [pg1] }, steps: [], flips: {} }";
  assert.throws(() => readIncident(file(flips), "a.yaml"), /unknown key flips/);
});

function monitored(name: (typeof chain)[number]): MonitoredCluster {
  const known = nodes.map((node) =>
    neverProbed({
      name: node,
      member: node,
      api: `http://${node}`,
      exporter: null,
      database: null,
      isFixed: true,
      isMemberFixed: true,
      isArchiveFed: false,
      zone: null,
    }),
  );
  const source = chain[chain.indexOf(name) + 1];
  const cluster = withNodes(emptyCluster({ name, scope: "demo", discover: [] }), known);
  return { cluster, policy: { ...policyOf(), ...(source === undefined ? {} : { source }) } };
}

/** pg1 leads, pg2 follows. @param position in MiB; `null`: the probe fails */
function outcomeOf(cluster: string, node: (typeof nodes)[number], atMs: number, position: number | null): ProbeOutcome {
  if (position === null) return failedOutcome(node, atMs);
  const reached = position * 1024 * 1024;
  if (node === "pg2") return statusOutcome(node, atMs, { received: reached, replayed: reached });
  if (cluster === "main") return statusOutcome(node, atMs, { hasLock: true, location: reached });
  return statusOutcome(node, atMs, { hasLock: true, role: "standby_leader", received: reached, replayed: reached });
}
