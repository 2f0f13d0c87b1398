import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { healthCheck, liveness, readiness, type ModelLeadership } from "../../../../src/tools/simulator/api/checks.ts";
import { isJsonObject, type SimulatorObject } from "../../../../src/tools/simulator/model/json.ts";

const recordings = join("test", "vectors", "node-api", "4.1.4");

/** Recordings of changing nodes: document and answers are up to a second apart, so they do not test the rules. */
const changing = new Set(["just-after-switchover", "old-leader-thawed", "replica-reinitializing"]);

interface Recording {
  readonly nodes: Readonly<
    Record<string, { leader: { status: number; doc?: SimulatorObject }; config?: { doc?: SimulatorObject } }>
  >;
  readonly answers: Readonly<Record<string, Readonly<Record<string, number | null>>>>;
}

for (const file of readdirSync(recordings)) {
  const name = file.replace(".json", "");
  if (changing.has(name)) continue;
  describe(`real 4.1.4 nodes, ${name}`, () => {
    const recording = JSON.parse(readFileSync(join(recordings, file), "utf8")) as Recording;
    for (const [node, { leader, config }] of Object.entries(recording.nodes)) {
      const { doc } = leader;
      if (doc === undefined) continue;
      it(`${node} answered as the simulator does`, () => {
        const seesCluster = !name.startsWith("dcs-down");
        const known = leadershipOf(recording, leader.status, doc);
        const leadership = seesCluster ? known : { ...known, seesCluster, leaderLsn: ownReceiver(doc) };
        // The recorded clusters have the default value, which also applies if the configuration could not be read.
        const maximumLag = Number(config?.doc?.["maximum_lag_on_failover"] ?? 1_048_576);
        const answers = Object.entries(recording.answers[node] ?? {}).filter(([, status]) => status !== null);
        assert.ok(answers.length > 100, `only ${String(answers.length)} answers were recorded`);
        const wrong = answers
          .map(([target, status]) => ({
            target,
            recorded: status,
            simulated: statusOf(target, leadership, maximumLag),
          }))
          .filter(({ recorded, simulated }) => recorded !== simulated);
        assert.deepEqual(wrong, []);
      });
    }
  });
}

describe("liveness", () => {
  const heartbeat = { silentMs: 0, loopWaitMs: 10_000, ttlMs: 30_000, pause: false, isPrimary: true };
  it("of a primary fails when its loop is overdue by ttl", () => {
    assert.equal(liveness({ ...heartbeat, silentMs: 39_999 }), 200);
    assert.equal(liveness({ ...heartbeat, silentMs: 40_000 }), 503);
  });
  it("of a replica fails when its loop is overdue by twice ttl", () => {
    assert.equal(liveness({ ...heartbeat, isPrimary: false, silentMs: 69_999 }), 200);
    assert.equal(liveness({ ...heartbeat, isPrimary: false, silentMs: 70_000 }), 503);
  });
  it("does not fail while paused", () => {
    assert.equal(liveness({ ...heartbeat, pause: true, silentMs: 1e9 }), 200);
  });
});

describe("a paused node without access to the DCS", () => {
  const lost = (role: string): ModelLeadership => ({
    report: { state: "running", role, pause: true },
    holdsLock: false,
    standbyCluster: false,
    seesCluster: false,
    leaderLsn: 0,
  });
  it("answers the leader routes by its role", () => {
    assert.equal(healthCheck("/leader", new Map(), lost("primary")), 200);
    assert.equal(healthCheck("/primary", new Map(), lost("primary")), 200);
    assert.equal(healthCheck("/standby-leader", new Map(), lost("standby_leader")), 200);
    assert.equal(healthCheck("/leader", new Map(), lost("replica")), 503);
  });
  it("does not know sync, async or quorum standbys", () => {
    assert.equal(healthCheck("/async", new Map(), lost("replica")), 503);
  });
});

/** The leader's position is the one that the leader itself reports, according to the README of the recordings. */
function leadershipOf(recording: Recording, status: number, report: SimulatorObject): ModelLeadership {
  const scope = scopeOf(report);
  const peers = Object.values(recording.nodes).flatMap(({ leader }) =>
    leader.doc && scopeOf(leader.doc) === scope ? [leader.doc] : [],
  );
  const positions = peers.flatMap(({ xlog }) =>
    isJsonObject(xlog) ? [xlog["location"], xlog["received_location"]] : [],
  );
  return {
    report,
    holdsLock: status === 200,
    standbyCluster: peers.some(({ role }) => role === "standby_leader"),
    seesCluster: true,
    leaderLsn: Math.max(0, ...positions.filter((position) => typeof position === "number")),
  };
}

/** Without the DCS a node knows the leader's position only from its own receiver. */
function ownReceiver({ replication_state, xlog }: SimulatorObject): number {
  return replication_state === "streaming" && isJsonObject(xlog) ? Number(xlog["received_location"]) : 0;
}

function scopeOf(report: SimulatorObject): unknown {
  return isJsonObject(report["patroni"]) ? report["patroni"]["scope"] : undefined;
}

function statusOf(target: string, leadership: ModelLeadership, maximumLag: number): number {
  const [path = "/", search = ""] = target.split("?");
  const query = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(search)) if (value !== "" && !query.has(key)) query.set(key, value);
  if (path === "/liveness")
    return liveness({ silentMs: 0, loopWaitMs: 2000, ttlMs: 20_000, pause: false, isPrimary: leadership.holdsLock });
  return path === "/readiness" ? readiness(query, leadership, maximumLag) : healthCheck(path, query, leadership);
}
