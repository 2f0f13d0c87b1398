import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { simulatedCluster } from "../simulated-cluster.ts";

const names = (document: Record<string, unknown>): unknown =>
  (document["members"] as readonly { name: string; role: string }[]).map(({ name }) => name);

describe("WAL", () => {
  it("advances on the primary, and replicas follow a little behind", () => {
    const stage = simulatedCluster(3);
    stage.advance(1000);
    const [pg1, pg2] = [stage.node("pg1").receivedLsn, stage.node("pg2")];
    stage.advance(1000);
    assert.equal(stage.node("pg1").receivedLsn, pg1 + 1000);
    assert.ok(pg2.receivedLsn > pg1 && pg2.receivedLsn < pg1 + 1000);
    assert.ok(pg2.replayedLsn < pg2.receivedLsn);
  });

  it("is where it is however the clock got there", () => {
    const [leap, walk] = [simulatedCluster(3), simulatedCluster(3)];
    leap.advance(30_000);
    for (let step = 0; step < 300; step += 1) walk.advance(100);
    for (const name of ["pg1", "pg2", "pg3"]) {
      assert.ok(Math.abs(leap.node(name).receivedLsn - walk.node(name).receivedLsn) < 1, name);
    }
  });
});

describe("a switchover", () => {
  it("takes time, gives a new timeline and a row of history, and the old leader comes back as a replica", () => {
    const stage = simulatedCluster(3);
    const before = stage.cluster.nowMs;
    const answer = stage.call("pg3", "POST", "/switchover", { leader: "pg1", candidate: "pg3" });
    assert.deepEqual(answer, {
      kind: "full",
      status: 200,
      contentType: "text/html",
      body: 'Successfully switched over to "pg3"',
    });
    assert.ok(stage.cluster.nowMs > before);
    assert.deepEqual(stage.leaders(), ["pg3"]);
    stage.advance(5000);
    assert.equal(stage.document("pg3", "/")["timeline"], 2);
    assert.equal(stage.cluster.history.length, 1);
    assert.deepEqual(stage.cluster.history[0]?.slice(0, 3), [
      1,
      stage.cluster.history[0]?.[1],
      "no recovery target specified",
    ]);
    assert.equal(stage.cluster.history[0]?.[4], "pg3");
    const old = stage.document("pg1", "/replica");
    assert.deepEqual(
      [old["role"], old["state"], old["timeline"], old["replication_state"]],
      ["replica", "running", 2, "streaming"],
    );
    assert.equal(stage.status("pg1", "/replica"), 200);
  });

  it("loses no WAL: the old leader shuts down cleanly", () => {
    const stage = simulatedCluster(3);
    stage.advance(10_000);
    stage.call("pg1", "POST", "/switchover", { leader: "pg1" });
    stage.advance(1000);
    assert.ok((stage.cluster.history[0]?.[1] ?? 0) + 8 > stage.node("pg1").receivedLsn);
  });

  it("leaves nobody with the lock for a moment, and says so", () => {
    const stage = simulatedCluster(3);
    stage.cluster.failover = { leader: "pg1", candidate: "pg2", scheduledAtMs: undefined };
    let unlocked = false;
    for (let step = 0; step < 100; step += 1) {
      stage.advance(50);
      assert.ok(stage.leaders().length <= 1);
      if (stage.leaders().length === 0) unlocked ||= stage.document("pg3", "/leader")["cluster_unlocked"] === true;
    }
    assert.ok(unlocked);
    assert.deepEqual(stage.leaders(), ["pg2"]);
  });

  it("that is scheduled happens at its time", () => {
    const stage = simulatedCluster(3);
    stage.call("pg1", "POST", "/switchover", { leader: "pg1", candidate: "pg2", scheduled_at: "2026-11-21T06:01:00Z" });
    stage.advance(59_000);
    assert.deepEqual(stage.leaders(), ["pg1"]);
    stage.advance(4000);
    assert.deepEqual(stage.leaders(), ["pg2"]);
    assert.equal(stage.document("pg1", "/cluster")["scheduled_switchover"], undefined);
  });
});

describe("a killed leader", () => {
  it("keeps the lock for ttl; then another is elected, and the dead one leaves the member list", () => {
    const stage = simulatedCluster(3);
    stage.advance(1000);
    stage.inject("pg1", { kind: "kill" });
    stage.advance(17_000);
    assert.equal(stage.cluster.lock?.holder, "pg1");
    assert.deepEqual(names(stage.document("pg2", "/cluster")), ["pg1", "pg2", "pg3"]);
    stage.advance(5000);
    assert.equal(stage.cluster.lock?.holder, "pg2");
    assert.deepEqual(names(stage.document("pg2", "/cluster")), ["pg2", "pg3"]);
    assert.equal(stage.document("pg2", "/leader")["timeline"], 2);
  });

  it("that revives before ttl starts again and leads on, on the same timeline", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg1", { kind: "kill" });
    stage.advance(10_000);
    stage.inject("pg1", { kind: "heal" });
    assert.equal(stage.document("pg1", "/leader")["state"], "starting");
    stage.advance(30_000);
    assert.equal(stage.document("pg1", "/leader")["role"], "primary");
    assert.equal(stage.cluster.timeline, 1);
  });

  it("that revives after ttl rejoins as a replica, rewound to where the timelines part", () => {
    const stage = simulatedCluster(3);
    stage.advance(500);
    stage.inject("pg1", { kind: "kill" });
    // What it wrote and nobody received.
    stage.node("pg1").receivedLsn += 500_000;
    stage.advance(30_000);
    stage.inject("pg1", { kind: "heal" });
    stage.advance(10_000);
    assert.equal(stage.status("pg1", "/replica?lag=1kB"), 200);
    assert.equal(stage.document("pg1", "/replica")["timeline"], 2);
    assert.ok(stage.node("pg1").receivedLsn <= stage.node("pg2").receivedLsn);
  });

  it("is not replaced while paused, nor by nodes that may not", () => {
    const paused = simulatedCluster(3, { pause: true });
    paused.inject("pg1", { kind: "kill" });
    paused.advance(60_000);
    assert.deepEqual(paused.leaders(), []);
    assert.equal(paused.document("pg2", "/leader")["cluster_unlocked"], true);
    paused.call("pg2", "PATCH", "/config", { pause: null });
    paused.advance(5000);
    assert.equal(paused.leaders().length, 1);

    const lagging = simulatedCluster(2);
    lagging.inject("pg2", { kind: "detach" });
    lagging.advance(4000);
    lagging.inject("pg1", { kind: "kill" });
    lagging.cluster.leaderLsn += 2_000_000;
    lagging.advance(60_000);
    assert.equal(lagging.cluster.lock, undefined);
  });

  it("is followed only by a synchronous standby in synchronous mode", () => {
    const stage = simulatedCluster(3, { synchronous_mode: true });
    stage.advance(4000);
    assert.deepEqual(stage.cluster.sync, ["pg2"]);
    stage.inject("pg1", { kind: "kill" });
    stage.inject("pg2", { kind: "kill" });
    stage.advance(60_000);
    assert.deepEqual([stage.cluster.lock, stage.status("pg3", "/leader")], [undefined, 503]);
    stage.inject("pg2", { kind: "heal" });
    stage.advance(10_000);
    assert.deepEqual(stage.leaders(), ["pg2"]);
    assert.deepEqual(stage.cluster.sync, ["pg3"]);
  });
});

describe("a killed replica", () => {
  it("is gone from the sender list at once and from the member list after ttl", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg3", { kind: "kill" });
    const senders = stage.document("pg1", "/leader")["replication"] as readonly { application_name: string }[];
    assert.deepEqual(
      senders.map(({ application_name }) => application_name),
      ["pg2"],
    );
    stage.advance(19_000);
    assert.deepEqual(names(stage.document("pg1", "/cluster")), ["pg1", "pg2", "pg3"]);
    stage.advance(2000);
    assert.deepEqual(names(stage.document("pg1", "/cluster")), ["pg1", "pg2"]);
  });
});

describe("a frozen leader", () => {
  it("still calls itself primary when it thaws after ttl, but stops at once and rejoins as a replica", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg1", { kind: "freeze" });
    stage.advance(30_000);
    assert.equal(stage.cluster.lock?.holder, "pg2");
    stage.inject("pg1", { kind: "heal" });
    const thawed = stage.document("pg1", "/leader");
    assert.deepEqual([thawed["state"], thawed["role"], thawed["xlog"]], ["stopping", "primary", undefined]);
    assert.deepEqual(stage.leaders(), ["pg2"]);
    stage.advance(5000);
    assert.equal(stage.status("pg1", "/replica"), 200);
  });

  it("leads on when it thaws in time, and when nobody could take over", () => {
    const brief = simulatedCluster(3);
    brief.inject("pg1", { kind: "freeze" });
    brief.advance(10_000);
    brief.inject("pg1", { kind: "heal" });
    assert.deepEqual(brief.leaders(), ["pg1"]);

    const alone = simulatedCluster(1);
    alone.inject("pg1", { kind: "freeze" });
    alone.advance(60_000);
    assert.equal(alone.cluster.lock, undefined);
    alone.inject("pg1", { kind: "heal" });
    assert.deepEqual(alone.leaders(), ["pg1"]);
    assert.equal(alone.cluster.timeline, 1);
  });
});

describe("a standby cluster", () => {
  it("has a standby leader, and a primary once the key is taken from its configuration", () => {
    const stage = simulatedCluster(2, { standby_cluster: { host: "192.0.2.1" } });
    assert.deepEqual(
      [stage.status("pg1", "/leader"), stage.status("pg1", "/standby-leader"), stage.status("pg1", "/primary")],
      [200, 200, 503],
    );
    stage.call("pg1", "PATCH", "/config", { standby_cluster: null });
    stage.advance(5000);
    assert.deepEqual([stage.status("pg1", "/standby-leader"), stage.status("pg1", "/primary")], [503, 200]);
    assert.equal(stage.cluster.timeline, 2);
    stage.call("pg1", "PATCH", "/config", { standby_cluster: { host: "192.0.2.1" } });
    stage.advance(5000);
    assert.equal(stage.document("pg1", "/leader")["role"], "standby_leader");
  });
  it("hands over within itself without a new timeline", () => {
    const stage = simulatedCluster(2, { standby_cluster: { host: "192.0.2.1" } });
    stage.call("pg1", "POST", "/switchover", { leader: "pg1" });
    stage.advance(10_000);
    assert.deepEqual([stage.status("pg2", "/standby-leader"), stage.cluster.timeline], [200, 1]);
    assert.equal(stage.status("pg1", "/replica"), 200);
  });
});
