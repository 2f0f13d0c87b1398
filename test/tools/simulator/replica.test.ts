import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createModelFixture } from "./model-fixture.ts";

describe("a hung API", () => {
  it("does not make the node lose its lock", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg1", { kind: "hang" });
    fixture.pass(120_000);
    assert.equal(fixture.cluster.lock?.holder, "pg1");
  });
  it("keeps the node out of the race", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg2", { kind: "hang" });
    fixture.fault("pg1", { kind: "kill" });
    fixture.pass(30_000);
    assert.equal(fixture.cluster.lock?.holder, "pg3");
  });
});

describe("a detached replica", () => {
  it("reports running and streaming, does not advance, and is in no sender list", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg2", { kind: "detach" });
    fixture.pass(1000);
    const before = fixture.document("pg2", "/replica");
    fixture.pass(30_000);
    const after = fixture.document("pg2", "/replica");
    assert.deepEqual(
      [after["state"], after["replication_state"], after["xlog"]],
      ["running", "streaming", before["xlog"]],
    );
    assert.equal(fixture.status("pg2", "/replica?lag=1kB"), 503);
    const senders = fixture.document("pg1", "/leader")["replication"] as readonly { application_name: string }[];
    assert.ok(senders.every(({ application_name }) => application_name !== "pg2"));
    fixture.pass(60_000);
    assert.equal(fixture.document("pg2", "/replica")["replication_state"], undefined);
    fixture.fault("pg2", { kind: "heal" });
    fixture.pass(100);
    assert.equal(fixture.status("pg2", "/replica?lag=1kB"), 200);
  });
});

describe("a lagging replica", () => {
  it("is the given number of bytes behind at once, and stays so", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg2", { kind: "lag", bytes: 9_000_000 });
    for (let step = 0; step < 3; step += 1) {
      fixture.pass(5000);
      assert.ok(Math.abs(fixture.node("pg1").receivedLsn - fixture.node("pg2").replayedLsn - 9_000_000) < 1);
    }
    assert.equal(fixture.status("pg2", "/replica?lag=8MB"), 503);
    assert.equal(fixture.status("pg2", "/replica?lag=9MB"), 200);
    assert.equal(fixture.status("pg2", "/readiness"), 503);
    assert.equal(fixture.status("pg2", "/readiness?mode=write"), 200);
    assert.equal(fixture.status("pg3", "/replica?lag=1kB"), 200);
  });
  it("stops replaying if no number is given", () => {
    const fixture = createModelFixture(2);
    fixture.fault("pg2", { kind: "lag", bytes: Infinity });
    const { replayedLsn } = fixture.node("pg2");
    fixture.pass(60_000);
    assert.equal(fixture.node("pg2").replayedLsn, replayedLsn);
    assert.ok(fixture.node("pg2").receivedLsn > replayedLsn + 50_000);
  });
});

describe("a reinitialized replica", () => {
  it("stops, is copied again, and streams from the leader's position", () => {
    const fixture = createModelFixture(3);
    fixture.fault("pg2", { kind: "lag", bytes: Infinity });
    fixture.pass(60_000);
    fixture.fault("pg2", { kind: "heal" });
    assert.equal(fixture.ask("pg2", "POST", "/reinitialize").status, 200);
    const states = new Set<unknown>();
    for (let step = 0; step < 50; step += 1) {
      states.add(fixture.document("pg2", "/replica")["state"]);
      fixture.pass(100);
    }
    assert.deepEqual([...states], ["stopping", "creating replica", "starting", "running"]);
    assert.equal(fixture.status("pg2", "/replica?lag=1kB"), 200);
  });
});
