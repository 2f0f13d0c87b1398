import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createModelFixture } from "../model-fixture.ts";

const names = (document: Record<string, unknown>): unknown =>
  (document["members"] as readonly { name: string; role: string }[]).map(({ name }) => name);

describe("WAL", () => {
  it("advances on the primary, and replicas follow slightly later", () => {
    const fixture = createModelFixture(3);
    fixture.pass(1000);
    const [pg1, pg2] = [fixture.node("pg1").receivedLsn, fixture.node("pg2")];
    fixture.pass(1000);
    assert.equal(fixture.node("pg1").receivedLsn, pg1 + 1000);
    assert.ok(pg2.receivedLsn > pg1 && pg2.receivedLsn < pg1 + 1000);
    assert.ok(pg2.replayedLsn < pg2.receivedLsn);
  });

  it("depends on the time only, not on the steps of the clock", () => {
    const [leap, walk] = [createModelFixture(3), createModelFixture(3)];
    leap.pass(30_000);
    for (let step = 0; step < 300; step += 1) walk.pass(100);
    for (const name of ["pg1", "pg2", "pg3"]) {
      assert.ok(Math.abs(leap.node(name).receivedLsn - walk.node(name).receivedLsn) < 1, name);
    }
  });
});

describe("a switchover", () => {
  it("takes time and adds a timeline and a history row; the old leader becomes a replica", () => {
    const fixture = createModelFixture(3);
    const before = fixture.cluster.nowMs;
    const answer = fixture.ask("pg3", "POST", "/switchover", { leader: "pg1", candidate: "pg3" });
    assert.deepEqual(answer, {
      kind: "full",
      status: 200,
      contentType: "text/html",
      body: 'Successfully switched over to "pg3"',
    });
    assert.ok(fixture.cluster.nowMs > before);
    assert.deepEqual(fixture.leaders(), ["pg3"]);
    fixture.pass(5000);
    assert.equal(fixture.document("pg3", "/")["timeline"], 2);
    assert.equal(fixture.cluster.history.length, 1);
    assert.deepEqual(fixture.cluster.history[0]?.slice(0, 3), [
      1,
      fixture.cluster.history[0]?.[1],
      "no recovery target specified",
    ]);
    assert.equal(fixture.cluster.history[0]?.[4], "pg3");
    const old = fixture.document("pg1", "/replica");
    assert.deepEqual(
      [old["role"], old["state"], old["timeline"], old["replication_state"]],
      ["replica", "running", 2, "streaming"],
    );
    assert.equal(fixture.status("pg1", "/replica"), 200);
  });

  it("loses no WAL: the old leader shuts down cleanly", () => {
    const fixture = createModelFixture(3);
    fixture.pass(10_000);
    fixture.ask("pg1", "POST", "/switchover", { leader: "pg1" });
    fixture.pass(1000);
    assert.ok((fixture.cluster.history[0]?.[1] ?? 0) + 8 > fixture.node("pg1").receivedLsn);
  });

  it("leaves the lock free for a moment and reports it", () => {
    const fixture = createModelFixture(3);
    fixture.cluster.failover = { leader: "pg1", candidate: "pg2", scheduledAtMs: undefined };
    let unlocked = false;
    for (let step = 0; step < 100; step += 1) {
      fixture.pass(50);
      assert.ok(fixture.leaders().length <= 1);
      if (fixture.leaders().length === 0) unlocked ||= fixture.document("pg3", "/leader")["cluster_unlocked"] === true;
    }
    assert.ok(unlocked);
    assert.deepEqual(fixture.leaders(), ["pg2"]);
  });

  it("happens at its scheduled time", () => {
    const fixture = createModelFixture(3);
    fixture.ask("pg1", "POST", "/switchover", {
      leader: "pg1",
      candidate: "pg2",
      scheduled_at: "2026-11-21T06:01:00Z",
    });
    fixture.pass(59_000);
    assert.deepEqual(fixture.leaders(), ["pg1"]);
    fixture.pass(4000);
    assert.deepEqual(fixture.leaders(), ["pg2"]);
    assert.equal(fixture.document("pg1", "/cluster")["scheduled_switchover"], undefined);
  });
});

describe("a killed leader", () => {
  it("keeps the lock for ttl; then another is elected, and the dead node leaves the member list", () => {
    const fixture = createModelFixture(3);
    fixture.pass(1000);
    fixture.fault("pg1", { kind: "kill" });
    fixture.pass(17_000);
    assert.equal(fixture.cluster.lock?.holder, "pg1");
    assert.deepEqual(names(fixture.document("pg2", "/cluster")), ["pg1", "pg2", "pg3"]);
    fixture.pass(5000);
    assert.equal(fixture.cluster.lock?.holder, "pg2");
    assert.deepEqual(names(fixture.document("pg2", "/cluster")), ["pg2", "pg3"]);
    assert.equal(fixture.document("pg2", "/leader")["timeline"], 2);
  });

  it("keeps leading on the same timeline if it revives before ttl", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg1", { kind: "kill" });
    fixture.pass(10_000);
    fixture.fault("pg1", { kind: "heal" });
    assert.equal(fixture.document("pg1", "/leader")["state"], "starting");
    fixture.pass(30_000);
    assert.equal(fixture.document("pg1", "/leader")["role"], "primary");
    assert.equal(fixture.cluster.timeline, 1);
  });

  it("rejoins as a replica, rewound to the switch point, if it revives after ttl", () => {
    const fixture = createModelFixture(3);
    fixture.pass(500);
    fixture.fault("pg1", { kind: "kill" });
    // WAL that no replica has received.
    fixture.node("pg1").receivedLsn += 500_000;
    fixture.pass(30_000);
    fixture.fault("pg1", { kind: "heal" });
    fixture.pass(10_000);
    assert.equal(fixture.status("pg1", "/replica?lag=1kB"), 200);
    assert.equal(fixture.document("pg1", "/replica")["timeline"], 2);
    assert.ok(fixture.node("pg1").receivedLsn <= fixture.node("pg2").receivedLsn);
  });

  it("is not replaced while paused, nor by an ineligible node", () => {
    const paused = createModelFixture(3, { pause: true });
    paused.fault("pg1", { kind: "kill" });
    paused.pass(60_000);
    assert.deepEqual(paused.leaders(), []);
    assert.equal(paused.document("pg2", "/leader")["cluster_unlocked"], true);
    paused.ask("pg2", "PATCH", "/config", { pause: null });
    paused.pass(5000);
    assert.equal(paused.leaders().length, 1);

    const lagging = createModelFixture(2);
    lagging.fault("pg2", { kind: "detach" });
    lagging.pass(4000);
    lagging.fault("pg1", { kind: "kill" });
    lagging.cluster.leaderLsn += 2_000_000;
    lagging.pass(60_000);
    assert.equal(lagging.cluster.lock, undefined);
  });

  it("is replaced only by a synchronous standby in synchronous mode", () => {
    const fixture = createModelFixture(3, { synchronous_mode: true });
    fixture.pass(4000);
    assert.deepEqual(fixture.cluster.sync, ["pg2"]);
    fixture.fault("pg1", { kind: "kill" });
    fixture.fault("pg2", { kind: "kill" });
    fixture.pass(60_000);
    assert.deepEqual([fixture.cluster.lock, fixture.status("pg3", "/leader")], [undefined, 503]);
    fixture.fault("pg2", { kind: "heal" });
    fixture.pass(10_000);
    assert.deepEqual(fixture.leaders(), ["pg2"]);
    assert.deepEqual(fixture.cluster.sync, ["pg3"]);
  });
});

describe("a killed replica", () => {
  it("leaves the sender list at once and the member list after ttl", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg3", { kind: "kill" });
    const senders = fixture.document("pg1", "/leader")["replication"] as readonly { application_name: string }[];
    assert.deepEqual(
      senders.map(({ application_name }) => application_name),
      ["pg2"],
    );
    fixture.pass(19_000);
    assert.deepEqual(names(fixture.document("pg1", "/cluster")), ["pg1", "pg2", "pg3"]);
    fixture.pass(2000);
    assert.deepEqual(names(fixture.document("pg1", "/cluster")), ["pg1", "pg2"]);
  });
});

describe("a frozen leader", () => {
  it("reports primary when it thaws after ttl, but stops at once and rejoins as a replica", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg1", { kind: "freeze" });
    fixture.pass(30_000);
    assert.equal(fixture.cluster.lock?.holder, "pg2");
    fixture.fault("pg1", { kind: "heal" });
    const thawed = fixture.document("pg1", "/leader");
    assert.deepEqual([thawed["state"], thawed["role"], thawed["xlog"]], ["stopping", "primary", undefined]);
    assert.deepEqual(fixture.leaders(), ["pg2"]);
    fixture.pass(5000);
    assert.equal(fixture.status("pg1", "/replica"), 200);
  });

  it("keeps leading if it thaws in time, or if no other node is eligible", () => {
    const brief = createModelFixture(3);
    brief.fault("pg1", { kind: "freeze" });
    brief.pass(10_000);
    brief.fault("pg1", { kind: "heal" });
    assert.deepEqual(brief.leaders(), ["pg1"]);

    const alone = createModelFixture(1);
    alone.fault("pg1", { kind: "freeze" });
    alone.pass(60_000);
    assert.equal(alone.cluster.lock, undefined);
    alone.fault("pg1", { kind: "heal" });
    assert.deepEqual(alone.leaders(), ["pg1"]);
    assert.equal(alone.cluster.timeline, 1);
  });
});

describe("a standby cluster", () => {
  it("has a standby leader, and a primary once the key is removed from its configuration", () => {
    const fixture = createModelFixture(2, { standby_cluster: { host: "192.0.2.1" } });
    assert.deepEqual(
      [fixture.status("pg1", "/leader"), fixture.status("pg1", "/standby-leader"), fixture.status("pg1", "/primary")],
      [200, 200, 503],
    );
    fixture.ask("pg1", "PATCH", "/config", { standby_cluster: null });
    fixture.pass(5000);
    assert.deepEqual([fixture.status("pg1", "/standby-leader"), fixture.status("pg1", "/primary")], [503, 200]);
    assert.equal(fixture.cluster.timeline, 2);
    fixture.ask("pg1", "PATCH", "/config", { standby_cluster: { host: "192.0.2.1" } });
    fixture.pass(5000);
    assert.equal(fixture.document("pg1", "/leader")["role"], "standby_leader");
  });
  it("switches over internally without a new timeline", () => {
    const fixture = createModelFixture(2, { standby_cluster: { host: "192.0.2.1" } });
    fixture.ask("pg1", "POST", "/switchover", { leader: "pg1" });
    fixture.pass(10_000);
    assert.deepEqual([fixture.status("pg2", "/standby-leader"), fixture.cluster.timeline], [200, 1]);
    assert.equal(fixture.status("pg1", "/replica"), 200);
  });
});
