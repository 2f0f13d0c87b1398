import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { emptyCluster } from "../../../../src/core/cluster/empty-cluster.ts";
import type { Report } from "../../../../src/core/cluster/documents/report.ts";
import { neverProbed } from "../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import type { ClusterEvent } from "../../../../src/core/events/cluster-event.ts";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { withNodes } from "../../../../src/core/health/observe/membership.ts";
import { observe } from "../../../../src/core/health/observe/observe.ts";
import { policyOf, statusOutcome, failedOutcome } from "../../health/arbitraries.ts";

type Fields = Partial<Report> | "fails";

const policy = policyOf();
const primary = { role: "primary", location: 1 } as const;
const standby = { role: "standby_leader", received: 1, replayed: 1 } as const;

/** Two clusters of one node each, probed every second. */
class Clusters {
  readonly detector: EventDetector;
  readonly #states = new Map<string, ClusterState>();

  constructor(detector = new EventDetector()) {
    this.detector = detector;
    for (const name of ["main", "dr"]) {
      const node = neverProbed({
        name: "pg1",
        member: "pg1",
        api: `http://${name}:8008`,
        exporter: null,
        database: null,
        isFixed: true,
        isMemberFixed: true,
        isArchiveFed: false,
        zone: null,
      });
      this.#states.set(name, withNodes(emptyCluster({ name, scope: "demo", discover: [] }), [node]));
    }
  }

  /** @returns `SECOND KIND CLUSTER: MESSAGE` of each event about systems */
  run(fromS: number, tillS: number, main: Fields, dr: Fields): readonly string[] {
    const found: string[] = [];
    for (let second = fromS; second < tillS; second += 1)
      for (const [cluster, fields] of Object.entries({ main, dr })) {
        const nowMs = second * 1_000;
        const outcome: ProbeOutcome =
          fields === "fails" ? failedOutcome("pg1", nowMs) : statusOutcome("pg1", nowMs, { hasLock: true, ...fields });
        const before = this.#states.get(cluster);
        assert.ok(before !== undefined);
        const after = observe(before, { ...outcome, cluster }, { policy, nowMs });
        this.#states.set(cluster, after);
        for (const { kind, message } of this.detector.find(after, new Map(), { policy, nowMs, isVerdictChanged: true }))
          if (kind.startsWith("system_")) found.push(`${second} ${kind} ${cluster}: ${message}`);
      }
    return found;
  }
}

test("two clusters of one database system that both have a primary are an event of each (patroni#2814)", () => {
  const clusters = new Clusters();
  assert.deepEqual(clusters.run(0, 30, primary, standby), [], "a standby cluster");
  assert.deepEqual(clusters.run(30, 60, primary, { ...primary, timeline: 2 }), [
    "40 system_conflict dr: pg1 of dr and pg1 of main are primaries of one database system",
    "41 system_conflict main: pg1 of main and pg1 of dr are primaries of one database system",
  ]);
  const end = "is no longer one of several clusters of its database system with a primary after";
  assert.deepEqual(clusters.run(60, 100, { ...standby, timeline: 2 }, { ...primary, timeline: 2 }), [
    `69 system_resolved main: main ${end} 28.0 s`,
    `69 system_resolved dr: dr ${end} 29.0 s`,
  ]);
});

test("a takeover that shows both primaries for a few seconds is no event, and other systems are none", () => {
  const clusters = new Clusters();
  assert.deepEqual(clusters.run(0, 20, primary, standby), []);
  assert.deepEqual(clusters.run(20, 29, primary, primary), []);
  assert.deepEqual(clusters.run(29, 60, standby, primary), []);
  const others = new Clusters();
  assert.deepEqual(others.run(0, 60, primary, { ...primary, system: "7300000000000000999" }), []);
});

test("a cluster that does not answer keeps the conflict, and a restart neither ends nor repeats it", () => {
  const clusters = new Clusters();
  assert.equal(clusters.run(0, 30, primary, primary).length, 2);
  assert.deepEqual(clusters.run(30, 33, primary, "fails"), []);
  const event: ClusterEvent = {
    id: "0.1",
    at: 0,
    kind: "system_conflict",
    severity: "error",
    node: null,
    message: "",
    cause: null,
    figures: {},
    cluster: "main",
  };
  const restarted = new EventDetector();
  restarted.resume([event, { ...event, cluster: "dr" }], { nowMs: 33_000, wallMs: 33_000 });
  assert.deepEqual(new Clusters(restarted).run(33, 60, primary, primary), []);
});
