import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { once } from "node:events";
import { describe, it } from "node:test";
import type { SimulatorObject } from "../../../src/tools/simulator/model/json.ts";
import { startSimulator } from "../../../src/tools/simulator/simulator.ts";
import { call, withSimulator } from "./caller.ts";

const first = (simulator: { nodes: readonly { url: string }[] }): string => simulator.nodes[0]?.url ?? assert.fail();

describe("a response of a simulated node", () => {
  it("is HTTP/1.0 with a JSON document, delimited by the end of the connection", () =>
    withSimulator({}, async (simulator) => {
      const { line, type, headers, body } = await call(`${first(simulator)}/leader`);
      assert.deepEqual([line, type, headers.get("content-length")], ["HTTP/1.0 200 OK", "application/json", undefined]);
      assert.equal((JSON.parse(body) as SimulatorObject)["role"], "primary");
    }));

  for (const [method, path, raw] of [
    ["HEAD", "/leader", "HTTP/1.0 200 OK\r\n\r\n"],
    ["OPTIONS", "/replica?lag=1MB", "HTTP/1.0 503 Service Unavailable\r\n\r\n"],
    ["GET", "/liveness", "HTTP/1.0 200 OK\r\n\r\n"],
    ["GET", "/readiness", "HTTP/1.0 200 OK\r\n\r\n"],
    // Real nodes serve these two by GET only: a HEAD is an unknown health check.
    ["HEAD", "/liveness", "HTTP/1.0 503 Service Unavailable\r\n\r\n"],
    ["HEAD", "/cluster", "HTTP/1.0 503 Service Unavailable\r\n\r\n"],
  ] as const) {
    it(`is a bare status line for ${method} ${path}`, () =>
      withSimulator({}, async (simulator) => {
        assert.equal((await call(first(simulator) + path, { method })).raw, raw);
      }));
  }

  it("is HTTP/1.1 with keep-alive if configured", () =>
    withSimulator({ keepAlive: true }, async (simulator) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ports = new Set<number | undefined>();
      for (const [method, path, status] of [
        ["GET", "/leader", 200],
        ["HEAD", "/replica", 503],
        ["GET", "/liveness", 200],
        ["GET", "/cluster", 200],
      ] as const) {
        const sent = request(first(simulator) + path, { method, agent });
        const answered = once(sent, "response");
        sent.end();
        const [response] = (await answered) as [import("node:http").IncomingMessage];
        assert.deepEqual([response.statusCode, response.httpVersion], [status, "1.1"]);
        ports.add(response.socket.localPort);
        await once(response.resume(), "end");
      }
      assert.equal(ports.size, 1);
      agent.destroy();
    }));
});

describe("the documents of a simulated node over HTTP", () => {
  it("contain the addresses that are served", () =>
    withSimulator({ nodes: 4, scope: "shop" }, async (simulator) => {
      const document = JSON.parse((await call(`${first(simulator)}/cluster`)).body) as {
        members: SimulatorObject[];
        scope: string;
      };
      assert.equal(document.scope, "shop");
      assert.deepEqual(
        document.members.map(({ name, api_url, host, port }) => ({ name, api_url, host, port })),
        simulator.nodes.map(({ name, url }, index) => ({
          name,
          api_url: `${url}/patroni`,
          host: "127.0.0.1",
          port: 15_431 + index,
        })),
      );
    }));

  for (const [vocabulary, key, absent, database] of [
    ["patroni", "patroni", "ha", "postgresql"],
    ["neutral", "ha", "patroni", "database"],
  ] as const) {
    it(`use the ${vocabulary} vocabulary, at /ha and at /patroni`, () =>
      withSimulator({ vocabulary }, async (simulator) => {
        for (const path of ["/ha", "/patroni", "/leader", "/nosuch"]) {
          const document = JSON.parse((await call(first(simulator) + path)).body) as SimulatorObject;
          assert.deepEqual(document[key], { version: "4.1.4", scope: "demo", name: "pg1" });
          assert.equal(document[absent], undefined);
        }
        const config = JSON.parse((await call(`${first(simulator)}/config`)).body) as SimulatorObject;
        assert.ok(database in config);
        const { members } = JSON.parse((await call(`${first(simulator)}/cluster`)).body) as {
          members: { api_url: string }[];
        };
        assert.ok(members.every(({ api_url }) => api_url.endsWith(`/${key}`)));
      }));
  }

  it("include /failsafe only while failsafe mode is on", () =>
    withSimulator({}, async (simulator) => {
      assert.equal((await call(`${first(simulator)}/failsafe`)).status, 502);
      await call(`${first(simulator)}/config`, { method: "PATCH", body: '{"failsafe_mode": true}' });
      const { status, body } = await call(`${first(simulator)}/failsafe`);
      assert.equal(status, 200);
      assert.deepEqual(
        JSON.parse(body),
        Object.fromEntries(simulator.nodes.map(({ name, url }) => [name, `${url}/patroni`])),
      );
    }));

  it("match by the first path segment, health checks by substring", () =>
    withSimulator({}, async (simulator) => {
      for (const [path, status] of [
        ["/cluster/extra", 200],
        ["//cluster", 200],
        ["/leader-foo", 200],
        ["/replica/extra", 503],
        ["/Leader", 503],
        ["/read-only?tag_zone=b", 503],
        ["/read-only?tag_zone=a", 200],
        ["/leader?tag_zone=b", 200],
        ["/?x=1", 200],
      ] as const) {
        assert.equal((await call(first(simulator) + path)).status, status, path);
      }
    }));
});

describe("startSimulator", () => {
  const invalid = [
    [{ nodes: 0, port: 0 }, /nodes must be a whole number from 1 to 1000, got 0/],
    [{ nodes: 1.5, port: 0 }, /nodes must be/],
    [{ nodes: 3, port: 65_534 }, /port must be 0, or leave room for 3 ports/],
    [{ nodes: 3, port: -1 }, /port must be/],
    [{ nodes: 3, port: 0, ttlMs: 1 }, /ttl must be/],
    [{ nodes: 3, port: 0, ttlMs: 1000, loopWaitMs: 900 }, /loop_wait must be/],
    [{ nodes: 3, port: 0, switchoverMs: 0 }, /the switchover must take/],
    [{ nodes: 3, port: 0, walBytesPerSecond: -1 }, /the WAL rate must be/],
  ] as const;
  for (const [options, message] of invalid) {
    it(`rejects ${JSON.stringify(options)}`, () => assert.rejects(startSimulator(options), message));
  }

  it("serves consecutive ports from pg1 on, and opens none if one is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : assert.fail();
    await assert.rejects(startSimulator({ nodes: 1, port }), { code: "EADDRINUSE" });
    taken.close();
    await once(taken, "close");
    const simulator = await startSimulator({ nodes: 1, port });
    assert.deepEqual(simulator.nodes, [{ name: "pg1", url: `http://127.0.0.1:${String(port)}` }]);
    await simulator.stop();
    await assert.rejects(call(`http://127.0.0.1:${String(port)}/leader`), { code: "ECONNREFUSED" });
  });

  it("serves three hundred nodes in one process", async () => {
    const simulators = await Promise.all(Array.from({ length: 100 }, () => startSimulator({ nodes: 3, port: 0 })));
    const answers = await Promise.all(simulators.map((simulator) => call(`${first(simulator)}/leader`)));
    assert.ok(answers.every(({ status }) => status === 200));
    await Promise.all(simulators.map((simulator) => simulator.stop()));
  });

  it("can be stopped while requests hang and calls wait", async () => {
    const simulator = await startSimulator({ nodes: 3, port: 0 });
    await simulator.fault("pg1", { kind: "freeze" });
    const hung = assert.rejects(call(`${first(simulator)}/leader`));
    const waiting = call(`${simulator.nodes[1]?.url ?? ""}/switchover`, { method: "POST", body: '{"leader": "pg1"}' });
    const ended = waiting.catch(() => "reset");
    await call(`${first(simulator)}/sim`);
    await simulator.stop();
    await Promise.all([hung, ended]);
    assert.equal(simulator.model()["scope"], "demo");
  });

  for (const when of ["before", "while", "after"] as const) {
    it(`leaves no port open if a killed node is revived ${when} it stops`, async () => {
      const simulator = await startSimulator({ nodes: 1, port: 0 });
      await simulator.fault("pg1", { kind: "kill" });
      const revive = (): Promise<void> => simulator.fault("pg1", { kind: "heal" });
      if (when === "before") await revive();
      const reviving = when === "while" ? revive() : Promise.resolve();
      await simulator.stop();
      await reviving;
      if (when === "after") await revive();
      await assert.rejects(call(`${first(simulator)}/leader`), { code: "ECONNREFUSED" });
    });
  }

  it("answers at the port of a node once each of two revivals at the same time is over", async () => {
    await withSimulator({ nodes: 1 }, async (simulator) => {
      await simulator.fault("pg1", { kind: "kill" });
      const one = simulator.fault("pg1", { kind: "heal" });
      await simulator.fault("pg1", { kind: "heal" });
      assert.equal((await call(`${first(simulator)}/leader`)).status, 200);
      await one;
    });
  });

  it("answers at the port of a node that is killed while it is revived once it is revived again", async () => {
    await withSimulator({ nodes: 1 }, async (simulator) => {
      await simulator.fault("pg1", { kind: "kill" });
      const reviving = simulator.fault("pg1", { kind: "heal" });
      await simulator.fault("pg1", { kind: "kill" });
      await reviving;
      await simulator.fault("pg1", { kind: "heal" });
      assert.equal((await call(`${first(simulator)}/leader`)).status, 200);
    });
  });
});
