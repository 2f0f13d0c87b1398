import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isJsonObject, type SimulatorJson, type SimulatorObject } from "../../../../src/tools/simulator/model/json.ts";
import { createModelFixture } from "../model-fixture.ts";

/**
 * The shape of a document: keys in their order, and the type of every value. Tags differ by node and are only objects
 * here.
 */
function shapeOf(value: SimulatorJson, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item: SimulatorJson) => shapeOf(item));
  if (isJsonObject(value))
    return key === "tags" ? "tags" : Object.entries(value).map(([name, item]) => [name, shapeOf(item, name)]);
  return value === null ? "null" : typeof value;
}

interface Recorded {
  readonly leader: { doc: SimulatorObject };
  readonly cluster: { doc: SimulatorObject };
  readonly history: { doc: SimulatorJson };
}

function recorded(state: string): Readonly<Record<string, Recorded>> {
  const file = join("test", "vectors", "node-api", "4.1.4", `${state}.json`);
  return (JSON.parse(readFileSync(file, "utf8")) as { nodes: Record<string, Recorded> }).nodes;
}

const states = [
  { state: "async-steady", config: {} },
  { state: "sync-steady", config: { synchronous_mode: true } },
  { state: "quorum-steady", config: { synchronous_mode: "quorum" } },
  { state: "paused", config: { pause: true } },
] as const;

describe("documents have the shape of those of a real 4.1.4 node", () => {
  for (const { state, config } of states) {
    for (const name of ["pg1", "pg2", "pg3"]) {
      it(`${state}, ${name}`, () => {
        const fixture = createModelFixture(3, config);
        fixture.pass(10_000);
        const real = recorded(state)[name] ?? assert.fail();
        assert.deepEqual(shapeOf(fixture.document(name, "/leader")), shapeOf(real.leader.doc));
        assert.deepEqual(shapeOf(fixture.document(name, "/cluster")), shapeOf(real.cluster.doc));
        assert.deepEqual(rolesIn(fixture.document(name, "/cluster")), rolesIn(real.cluster.doc));
      });
    }
  }

  it("with a restart pending and a switchover scheduled", () => {
    const fixture = createModelFixture(3, { postgresql: { parameters: { max_connections: 50 } } });
    fixture.ask("pg1", "PATCH", "/config", { postgresql: { parameters: { max_connections: 60 } } });
    fixture.ask("pg2", "POST", "/switchover", {
      leader: "pg1",
      candidate: "pg2",
      scheduled_at: "2026-11-21T06:53:47+00:00",
    });
    fixture.pass(2000);
    const real = recorded("pending-restart-and-scheduled-switchover");
    for (const name of ["pg1", "pg2"]) {
      const { leader, cluster } = real[name] ?? assert.fail();
      assert.deepEqual(shapeOf(fixture.document(name, "/leader")), shapeOf(leader.doc));
      assert.deepEqual(
        fixture.document(name, "/leader")["pending_restart_reason"],
        leader.doc["pending_restart_reason"],
      );
      assert.deepEqual(shapeOf(fixture.document(name, "/cluster")), shapeOf(cluster.doc));
      assert.deepEqual(fixture.document(name, "/cluster")["scheduled_switchover"], cluster.doc["scheduled_switchover"]);
    }
  });

  it("just after a switchover", () => {
    const fixture = createModelFixture(3);
    fixture.pass(5000);
    fixture.ask("pg1", "POST", "/switchover", { leader: "pg1", candidate: "pg2" });
    const real = recorded("just-after-switchover")["pg1"] ?? assert.fail();
    // The recorded cluster also had a pending restart.
    const { pending_restart: _, pending_restart_reason: __, ...old } = real.leader.doc;
    assert.deepEqual(shapeOf(fixture.document("pg1", "/leader")), shapeOf(old));
    assert.equal(fixture.document("pg1", "/leader")["role"], "demoted");
  });

  it("after a leader that was frozen has rejoined", () => {
    const fixture = createModelFixture(3);
    fixture.pass(5000);
    fixture.fault("pg1", { kind: "freeze" });
    fixture.pass(25_000);
    fixture.fault("pg1", { kind: "heal" });
    fixture.pass(10_000);
    const real = recorded("old-leader-rejoined")["pg2"] ?? assert.fail();
    // The recorded replica has not replayed a transaction since its restart, the simulated one has.
    const { xlog: _, ...rest } = fixture.document("pg1", "/leader");
    const { xlog: __, ...realRest } = real.leader.doc;
    assert.deepEqual(shapeOf(rest), shapeOf(realRest));
    const rows = JSON.parse(bodyOf(fixture.ask("pg1", "GET", "/history"))) as SimulatorJson[];
    assert.deepEqual(shapeOf(rows[0] ?? null), shapeOf(firstOf(real.history.doc)));
  });

  it("of a standby cluster", () => {
    const fixture = createModelFixture(2, { standby_cluster: { host: "192.0.2.1" } });
    fixture.pass(10_000);
    const real = recorded("standby-cluster-steady")["pg2"] ?? assert.fail();
    const document = fixture.document("pg1", "/leader");
    assert.equal(document["role"], "standby_leader");
    // The recorded replica had not replayed a transaction, so the time is null in both.
    assert.deepEqual(shapeOf(document), shapeOf(real.leader.doc));
    assert.deepEqual(shapeOf(fixture.document("pg1", "/cluster")), shapeOf(real.cluster.doc));
  });
});

function rolesIn(document: SimulatorObject): unknown {
  const { members } = document;
  return Array.isArray(members)
    ? members.map((member: SimulatorObject) => [member["name"], member["role"], member["state"]])
    : undefined;
}

function firstOf(value: SimulatorJson): SimulatorJson {
  return Array.isArray(value) ? ((value[0] as SimulatorJson | undefined) ?? null) : null;
}

function bodyOf(answer: { kind: string; body?: string }): string {
  return answer.body ?? "";
}
