import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import type { SimulatorObject } from "../../../../src/tools/simulator/model/json.ts";
import type { Simulator } from "../../../../src/tools/simulator/simulator.ts";
import { call, withSimulator } from "../caller.ts";

const url = ({ nodes }: Simulator, name: string): string =>
  nodes.find((node) => node.name === name)?.url ?? assert.fail();

async function model(
  simulator: Simulator,
  via: string,
): Promise<{ nodes: readonly SimulatorObject[]; lock: { holder: string } | null }> {
  return JSON.parse((await call(`${url(simulator, via)}/sim`)).body) as {
    nodes: SimulatorObject[];
    lock: { holder: string } | null;
  };
}

async function faultsOf(simulator: Simulator, name: string): Promise<unknown> {
  const { nodes } = await model(simulator, "pg3");
  return nodes.find((node) => node["name"] === name)?.["faults"];
}

describe("faults over HTTP", () => {
  it("kill: connections are refused until the node revives on the same port", () =>
    withSimulator({ speed: 20 }, async (simulator) => {
      const response = await call(`${url(simulator, "pg1")}/sim/pg1/kill`, { method: "POST" });
      assert.equal(response.status, 200);
      await assert.rejects(call(`${url(simulator, "pg1")}/leader`), { code: "ECONNREFUSED" });
      assert.deepEqual(await faultsOf(simulator, "pg1"), { kill: true });
      // The clock runs twenty times faster: ttl (20 s) passes in a second, and another node is elected.
      for (let leader = "pg1"; leader === "pg1" || leader === undefined;)
        leader = (await model(simulator, "pg2")).lock?.holder ?? "pg1";
      assert.equal((await call(`${url(simulator, "pg2")}/sim/pg1/revive`, { method: "POST" })).status, 200);
      assert.equal((await call(`${url(simulator, "pg1")}/leader`)).status, 503);
    }));

  it("kill: open connections are reset, and a held request gets no response", () =>
    withSimulator({}, async (simulator) => {
      await simulator.fault("pg1", { kind: "hang" });
      const waiting = assert.rejects(call(`${url(simulator, "pg1")}/leader`), { code: "ECONNRESET" });
      const socket = connect(Number(new URL(url(simulator, "pg1")).port), "127.0.0.1");
      await once(socket, "connect");
      await call(`${url(simulator, "pg1")}/sim`);
      const reset = once(socket, "error");
      await simulator.fault("pg1", { kind: "kill" });
      await Promise.all([waiting, reset]);
    }));

  it("kill of the last node with an open port is rejected", () =>
    withSimulator({ nodes: 1 }, async (simulator) => {
      const answer = await call(`${url(simulator, "pg1")}/sim/pg1/kill`, { method: "POST" });
      assert.equal(answer.status, 409);
      assert.match(answer.body, /last open port/);
      assert.equal((await call(`${url(simulator, "pg1")}/leader`)).status, 200);
    }));

  for (const kind of ["hang", "freeze"] as const) {
    it(`${kind}: connections are accepted, requests answered only after heal, except /sim`, () =>
      withSimulator({}, async (simulator) => {
        await call(`${url(simulator, "pg2")}/sim/pg1/${kind}`, { method: "POST" });
        let answered = false;
        const waiting = call(`${url(simulator, "pg1")}/leader`).then((answer) => {
          answered = true;
          return answer;
        });
        assert.deepEqual(await faultsOf(simulator, "pg1"), { [kind]: true });
        assert.equal((await call(`${url(simulator, "pg1")}/sim`)).status, 200);
        assert.equal(answered, false);
        await call(`${url(simulator, "pg1")}/sim/pg1/heal`, { method: "POST" });
        assert.equal((await waiting).status, 200);
      }));
  }

  it("slow: the response is delayed by the given number of milliseconds", () =>
    withSimulator({}, async (simulator) => {
      await call(`${url(simulator, "pg2")}/sim/pg1/slow?ms=150`, { method: "POST" });
      const begin = performance.now();
      assert.equal((await call(`${url(simulator, "pg1")}/leader`)).status, 200);
      // Timers may fire up to a millisecond early.
      assert.ok(performance.now() - begin >= 149);
      assert.deepEqual(await faultsOf(simulator, "pg1"), { slow: 150 });
    }));

  it("lag: by query or by body; without a number replay stops", () =>
    withSimulator({}, async (simulator) => {
      await call(`${url(simulator, "pg1")}/sim/pg2/lag?bytes=9MB`, { method: "POST" });
      assert.deepEqual(await faultsOf(simulator, "pg2"), { lag: 9_437_184 });
      assert.equal((await call(`${url(simulator, "pg2")}/replica?lag=8MB`)).status, 503);
      assert.equal((await call(`${url(simulator, "pg2")}/replica?lag=10MB`)).status, 200);
      await call(`${url(simulator, "pg1")}/sim/pg2/lag`, { method: "POST", body: '{"bytes": 16777216}' });
      assert.deepEqual(await faultsOf(simulator, "pg2"), { lag: 16_777_216 });
      await call(`${url(simulator, "pg1")}/sim/pg2/lag`, { method: "POST" });
      assert.deepEqual(await faultsOf(simulator, "pg2"), { lag: true });
    }));

  it("detach: the node leaves the leader's sender list", () =>
    withSimulator({}, async (simulator) => {
      await call(`${url(simulator, "pg1")}/sim/pg2/detach`, { method: "POST" });
      const { replication } = JSON.parse((await call(`${url(simulator, "pg1")}/leader`)).body) as {
        replication: SimulatorObject[];
      };
      assert.deepEqual(
        replication.map(({ application_name }) => application_name),
        ["pg3"],
      );
      assert.equal((await call(`${url(simulator, "pg2")}/replica?replication_state=streaming`)).status, 200);
    }));

  it("garbage: truncated JSON, bytes that are not HTTP, an HTML page, a huge document", () =>
    withSimulator({}, async (simulator) => {
      const garbage = async (kind: string): Promise<Awaited<ReturnType<typeof call>>> => {
        assert.equal(
          (await call(`${url(simulator, "pg2")}/sim/pg1/garbage?kind=${kind}`, { method: "POST" })).status,
          200,
        );
        return call(`${url(simulator, "pg1")}/leader`);
      };
      const json = await garbage("json");
      assert.equal(json.status, 200);
      assert.throws(() => JSON.parse(json.body) as unknown, SyntaxError);
      assert.ok(!(await garbage("http")).raw.startsWith("HTTP/"));
      assert.equal((await garbage("html")).type, "text/html");
      assert.ok((await garbage("huge")).body.length > 16 * 1024 * 1024);
    }));

  const refusals = [
    ["POST", "/sim/pg9/kill", 404, /one of pg1, pg2, pg3, got "pg9"/],
    ["POST", "/sim/pg1/explode", 400, /one of kill, freeze, .*, got "explode"/],
    ["POST", "/sim/pg1", 400, /one of kill/],
    ["POST", "/sim/pg1/kill/now", 400, /one of kill/],
    ["POST", "/sim/pg1/lag?bytes=much", 400, /bytes must be .*"much"/],
    ["POST", "/sim/pg1/lag?bytes=-1", 400, /bytes must be/],
    ["POST", "/sim/pg1/lag?bytes=1e300", 400, /bytes must be/],
    ["POST", "/sim/pg1/slow?ms=long", 400, /ms must be .*"long"/],
    ["POST", "/sim/pg1/garbage?kind=xml", 400, /kind must be one of json, http, html, huge, got "xml"/],
    ["GET", "/sim/pg1/kill", 405, /method must be POST/],
    ["DELETE", "/sim", 405, /method must be GET/],
  ] as const;
  for (const [method, path, status, says] of refusals) {
    it(`${method} ${path} is ${String(status)} with a reason`, () =>
      withSimulator({}, async (simulator) => {
        const answer = await call(`${url(simulator, "pg1")}${path}`, { method });
        assert.equal(answer.status, status);
        assert.match((JSON.parse(answer.body) as { error: string }).error, says);
      }));
  }

  it("the method rejects a fault of an unknown node too", () =>
    withSimulator({}, async (simulator) => {
      await assert.rejects(simulator.fault("pg9", { kind: "kill" }), RangeError);
    }));
});
