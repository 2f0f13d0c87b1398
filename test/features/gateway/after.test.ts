import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";
import { nodeOf } from "../../fake/config.ts";
import { openFakeNode } from "../../fake/fake-node.ts";
import { gatewayFixture, gatewayFixtureOf, type GatewayFixture } from "../../fake/gateway-fixture.ts";

async function withTown(play: (gateway: GatewayFixture) => Promise<void>): Promise<void> {
  const gateway = await gatewayFixture();
  try {
    await play(gateway);
  } finally {
    await gateway.close();
  }
}

test("names the snapshot in a switchover's response; a long poll after it returns the new leader", async () => {
  await withTown(async (gateway) => {
    const answer = await gateway.request("/switchover", { method: "POST", body: { leader: "pg1", candidate: "pg2" } });
    let after = String(answer.headers["x-rolecall-snapshot"]);
    assert.match(after, /^[0-9a-f]{12}\.\d+$/);
    const leader = await until("pg2 as the leader", async () => {
      const { body } = await sendRequest(`${gateway.adminUrl}/snapshot?after=${after}&wait=10s&cluster=demo`);
      const document = JSON.parse(body) as { snapshot: string; later: boolean; clusters: { demo: { leader: string } } };
      assert.equal(document.later, true);
      assert.notEqual(document.snapshot, after);
      after = document.snapshot;
      return document.clusters.demo.leader === "pg2" ? "pg2" : undefined;
    });
    assert.equal(leader, "pg2");
  });
});

test("a switchover through rolecall is no trouble, though the cluster has no primary for a moment", async () => {
  const gateway = await gatewayFixture({ simulator: { switchoverMs: 900 } });
  try {
    await gateway.request("/switchover", { method: "POST", body: { leader: "pg1", candidate: "pg2" } });
    const events = await until({ what: "pg2 as the primary", seconds: 10 }, async () => {
      const { body } = await sendRequest(`${gateway.adminUrl}/events?kind=primary_lost,primary_found`);
      const found = (JSON.parse(body) as { events: { kind: string; severity: string; node: string }[] }).events;
      return found.some(({ kind, node }) => kind === "primary_found" && node === "pg2") && found;
    });
    assert.deepEqual(
      events.filter(({ severity }) => severity !== "info"),
      [],
    );
  } finally {
    await gateway.close();
  }
});

test("names no snapshot for calls that change no role", async () => {
  await withTown(async (gateway) => {
    const answer = await gateway.request("/nodes/pg2/reload", { method: "POST" });
    assert.equal(answer.headers["x-rolecall-snapshot"], undefined);
  });
});

suite("the snapshot long poll", () => {
  test("returns at once for a snapshot of an earlier run, and after `wait` if there is no later snapshot", async () => {
    await withTown(async (gateway) => {
      const other = JSON.parse(
        (await sendRequest(`${gateway.adminUrl}/snapshot?after=feedfeedfeed.999999&wait=60s`)).body,
      ) as {
        later: boolean;
        instance: string;
      };
      assert.equal(other.later, true);
      const due = JSON.parse(
        (await sendRequest(`${gateway.adminUrl}/snapshot?after=${other.instance}.999999999&wait=50ms`)).body,
      ) as { later: boolean };
      assert.equal(due.later, false);
    });
  });
  test("answers 400 to invalid parameters and unknown clusters", async () => {
    await withTown(async (gateway) => {
      for (const query of ["after=banana", "after=a.1&wait=5", "after=a.1&wait=1h", "cluster=other"]) {
        assert.equal((await sendRequest(`${gateway.adminUrl}/snapshot?${query}`)).status, 400, query);
      }
      assert.equal((await sendRequest(`${gateway.adminUrl}/snapshot`, { method: "POST" })).status, 405);
    });
  });
  test("stops waiting when a client disconnects, and allows one wait for each connection", async () => {
    await withTown(async (gateway) => {
      const { instance } = JSON.parse((await sendRequest(`${gateway.adminUrl}/snapshot`)).body) as { instance: string };
      const { hostname, port } = new URL(gateway.adminUrl);
      const wait = `GET /snapshot?after=${instance}.999999999&wait=60s HTTP/1.1\r\nHost: a\r\n\r\n`;
      const sockets = Array.from({ length: 256 }, () => connect({ host: hostname, port: Number(port) }));
      for (const socket of sockets) socket.write(wait);
      const tryOnce = (): Promise<number> =>
        sendRequest(`${gateway.adminUrl}/snapshot?after=${instance}.999999999&wait=1ms`).then(({ status }) => status);
      await until("all places taken", async () => ((await tryOnce()) === 429 ? true : undefined));
      for (const socket of sockets) socket.destroy();
      await until({ what: "a free place", seconds: 10 }, async () => (await tryOnce()) === 200);
      const both = connect({ host: hostname, port: Number(port) });
      both.write(wait.replace("wait=60s", "wait=100ms") + wait.replace("HTTP/1.1", "HTTP/1.0"));
      assert.deepEqual((await text(both)).match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 429"]);
    });
  });
  test("answers 429 above 256 waiting requests; /readyz is not delayed", async () => {
    await withTown(async (gateway) => {
      const { instance } = JSON.parse((await sendRequest(`${gateway.adminUrl}/snapshot`)).body) as { instance: string };
      const statuses: number[] = [];
      const waiting = Array.from({ length: 300 }, () =>
        sendRequest(`${gateway.adminUrl}/snapshot?after=${instance}.999999999&wait=2s`).then(({ status }) =>
          statuses.push(status),
        ),
      );
      await until("refusals", () => (statuses.length === 44 ? true : undefined));
      assert.deepEqual(new Set(statuses), new Set([429]));
      assert.equal((await sendRequest(`${gateway.adminUrl}/readyz`)).status, 200);
      await Promise.all(waiting);
      assert.equal(statuses.filter((status) => status === 200).length, 256);
    });
  });
});

suite("requests that only a node can answer", () => {
  test("passes a node's metrics through unchanged, however the request names the node", async () => {
    await withTown(async (gateway) => {
      const answer = await gateway.request("/nodes/pg2/metrics");
      assert.equal(answer.status, 200);
      assert.match(answer.body, /patroni_postgres_running\{scope="demo",name="pg2"\} 1/);
      assert.equal(answer.headers["x-rolecall-node"], "pg2");
      assert.match((await gateway.request("/metrics", { headers: { "x-rolecall-node": "pg3" } })).body, /name="pg3"/);
      assert.equal((await gateway.request("/metrics")).status, 400);
      assert.equal((await gateway.request("/nodes/pg2/metrics", { method: "POST" })).status, 405);
    });
  });
  test("a dry run refuses a call to a node without an API, as the call itself", async () => {
    const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
    const pg2 = nodeOf({ name: "pg2", api: null, exporter: pg1.api });
    const gateway = await gatewayFixtureOf([nodeOf({ name: pg1.name, api: pg1.api }), pg2]);
    try {
      const refused = await gateway.request("/nodes/pg2/restart", { method: "POST" });
      assert.deepEqual([refused.status, refused.headers["x-rolecall-reason"]], [503, "no_api"]);
      const dryRun = JSON.parse((await gateway.request("/nodes/pg2/restart?dry_run=1", { method: "POST" })).body);
      assert.deepEqual([dryRun.would, dryRun.status, dryRun.error], ["refuse", 503, "no_api"]);
    } finally {
      await gateway.close();
      await pg1.close();
    }
  });
  test("only read-only pages are requested from a node's exporter", async () => {
    const exporter = await openFakeNode({
      name: "exporter",
      holdsLock: false,
      handler: (request, response) => void response.end(`said ${request.url ?? ""}`),
    });
    const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
    const pg2 = await openFakeNode({ name: "pg2", holdsLock: false });
    const gateway = await gatewayFixtureOf([
      nodeOf({ name: pg1.name, api: pg1.api, exporter: exporter.api }),
      nodeOf(pg2),
    ]);
    try {
      assert.equal((await gateway.request("/nodes/pg1/exporter/metrics")).body, "said /metrics");
      assert.equal((await gateway.request("/clusters/demo/nodes/pg1/exporter/stat?x=1")).body, "said /stat?x=1");
      assert.equal((await gateway.request("/nodes/pg1/exporter")).body, "said /");
      for (const path of ["up", "explain", "version", "replica"]) {
        assert.equal((await gateway.request(`/nodes/pg1/exporter/${path}`)).body, `said /${path}`);
      }
      const others = [
        "reload",
        "%72eload",
        "reload/",
        "debug/pprof",
        "debug/pprof/heap",
        "probe",
        "metrics/x",
        "METRICS",
        "-/quit",
      ];
      for (const path of [
        ...others,
        "../../core/metrics",
        "%2e%2e/metrics",
        "a//b",
        "metrics%2f..%2freload",
        "a%0d%0ab",
        "%00",
      ]) {
        const raw = { path: `/nodes/pg1/exporter/${path}` };
        const answer = await gateway.request("/", { tls: raw });
        assert.equal(answer.status, 400, path);
        assert.match(answer.body, /one of \/exporter\//);
      }
      assert.equal((await gateway.request("/nodes/pg2/exporter/metrics")).status, 400);
    } finally {
      await gateway.close();
      await Promise.all([exporter, pg1, pg2].map((node) => node.close()));
    }
  });
  test("answers 429 above the limit of concurrent fetches of one node, and does not affect other nodes", async () => {
    const held: (() => void)[] = [];
    const pg1 = await openFakeNode({ name: "pg1", holdsLock: true });
    const pg2 = await openFakeNode({
      name: "pg2",
      holdsLock: false,
      respond: (_, response) => void held.push(() => response.end("late")),
    });
    const gateway = await gatewayFixtureOf([nodeOf(pg1), nodeOf(pg2)]);
    try {
      const first = [gateway.request("/nodes/pg2/metrics"), gateway.request("/nodes/pg2/metrics")];
      await until("two at the node", () => (held.length === 2 ? true : undefined));
      assert.equal((await gateway.request("/nodes/pg2/metrics")).status, 429);
      assert.equal((await gateway.request("/nodes/pg1/metrics")).status, 200);
      for (const go of held) go();
      for (const { body } of await Promise.all(first)) assert.equal(body, "late");
    } finally {
      await gateway.close();
      await Promise.all([pg1, pg2].map((node) => node.close()));
    }
  });
});
