import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { simulatedCluster } from "./simulated-cluster.ts";

describe("a hung API", () => {
  it("does not cost the node its lock", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg1", { kind: "hang" });
    stage.advance(120_000);
    assert.equal(stage.cluster.lock?.holder, "pg1");
  });
  it("keeps the node out of the race", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg2", { kind: "hang" });
    stage.inject("pg1", { kind: "kill" });
    stage.advance(30_000);
    assert.equal(stage.cluster.lock?.holder, "pg3");
  });
});

describe("a detached replica", () => {
  it("says running and streaming, stands still, and is in no sender list", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg2", { kind: "detach" });
    stage.advance(1000);
    const before = stage.document("pg2", "/replica");
    stage.advance(30_000);
    const after = stage.document("pg2", "/replica");
    assert.deepEqual(
      [after["state"], after["replication_state"], after["xlog"]],
      ["running", "streaming", before["xlog"]],
    );
    assert.equal(stage.status("pg2", "/replica?lag=1kB"), 503);
    const senders = stage.document("pg1", "/leader")["replication"] as readonly { application_name: string }[];
    assert.ok(senders.every(({ application_name }) => application_name !== "pg2"));
    stage.advance(60_000);
    assert.equal(stage.document("pg2", "/replica")["replication_state"], undefined);
    stage.inject("pg2", { kind: "heal" });
    stage.advance(100);
    assert.equal(stage.status("pg2", "/replica?lag=1kB"), 200);
  });
});

describe("a lagging replica", () => {
  it("is that many bytes behind at once, and stays so", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg2", { kind: "lag", bytes: 9_000_000 });
    for (let step = 0; step < 3; step += 1) {
      stage.advance(5000);
      assert.ok(Math.abs(stage.node("pg1").receivedLsn - stage.node("pg2").replayedLsn - 9_000_000) < 1);
    }
    assert.equal(stage.status("pg2", "/replica?lag=8MB"), 503);
    assert.equal(stage.status("pg2", "/replica?lag=9MB"), 200);
    assert.equal(stage.status("pg2", "/readiness"), 503);
    assert.equal(stage.status("pg2", "/readiness?mode=write"), 200);
    assert.equal(stage.status("pg3", "/replica?lag=1kB"), 200);
  });
  it("without a number stops replaying for good", () => {
    const stage = simulatedCluster(2);
    stage.inject("pg2", { kind: "lag", bytes: Infinity });
    const { replayedLsn } = stage.node("pg2");
    stage.advance(60_000);
    assert.equal(stage.node("pg2").replayedLsn, replayedLsn);
    assert.ok(stage.node("pg2").receivedLsn > replayedLsn + 50_000);
  });
});

describe("a reinitialized replica", () => {
  it("stops, is copied anew, and streams again from where the leader is", () => {
    const stage = simulatedCluster(3);
    stage.inject("pg2", { kind: "lag", bytes: Infinity });
    stage.advance(60_000);
    stage.inject("pg2", { kind: "heal" });
    assert.equal(stage.call("pg2", "POST", "/reinitialize").status, 200);
    const states = new Set<unknown>();
    for (let step = 0; step < 50; step += 1) {
      states.add(stage.document("pg2", "/replica")["state"]);
      stage.advance(100);
    }
    assert.deepEqual([...states], ["stopping", "creating replica", "starting", "running"]);
    assert.equal(stage.status("pg2", "/replica?lag=1kB"), 200);
  });
});
