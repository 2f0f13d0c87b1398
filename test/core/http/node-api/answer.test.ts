import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nodeJson } from "../../../../src/core/cluster/values/json.ts";
import { readDocument, readStatusAfter } from "../../../../src/core/probe/parse/parse-response.ts";
import { parseAnswer, routingContextOf, openNodeApiListener } from "../../../fake/node-api-listener.ts";
import { steadyCluster, ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

const whole = routingContextOf({ wholeCluster: true });

describe("a response", () => {
  test("is the node's own document with the verdict, byte for byte", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    const document = nodeJson(statusDocument("pg1", { role: "primary", xlog: { location: 50_000_000 } })).slice(0, -1);
    assert.match(document, /, "role": "primary", /); // As checks of the body expect it.
    const ours =
      '{"node":"pg1","cluster":"demo","fit":true,"reason":null,"lag_bytes":0,"lag_ms":0,"observed_at":"1970-01-01T00:00:00.000Z","snapshot":7,"instance":"run"}';
    const body = `${document}, "rolecall": ${ours}}`;
    const text = await front.sendBytes("GET /nodes/pg1/primary HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n");
    assert.equal(
      text,
      `HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Type: application/json\r\nX-Rolecall-Node: pg1\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  });

  test("to an unfit verdict has the reason in status line, header and body", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    const { line, headers, body } = await front.request("/nodes/pg2/replica?lag=1MB");
    assert.equal(line, "HTTP/1.1 503 lagging 12MB");
    assert.equal(headers.get("X-Rolecall-Reason"), "lagging");
    assert.equal(JSON.parse(body).rolecall.reason, "lagging");
    assert.equal(JSON.parse(body).rolecall.lag_bytes, 12_582_912);
    assert.equal(headers.has("Date"), false);
  });

  test("for a node that never reported has a body too", async (context) => {
    const { line, body } = await (await openNodeApiListener(context, steadyCluster())).request("/nodes/pg3/replica");
    assert.equal(line, "HTTP/1.1 503 unknown");
    const { rolecall, ...document } = JSON.parse(body);
    assert.deepEqual(document, { state: "unknown", role: "unknown" });
    assert.deepEqual([rolecall.node, rolecall.lag_bytes, rolecall.observed_at], ["pg3", null, null]);
  });

  test("to HEAD has the Content-Length of GET, to OPTIONS 0, and both have the status and headers of GET", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    for (const target of [
      "/nodes/pg1/primary",
      "/nodes/pg2/primary",
      "/nodes/pg3/health",
      "/nowhere",
      "/livez",
      "/nodes/pg1/patroni",
    ]) {
      const got = await front.request(target);
      const head = await front.request(target, { method: "HEAD" });
      const options = await front.request(target, { method: "OPTIONS" });
      assert.deepEqual([head.line, options.line], [got.line, got.line]);
      assert.deepEqual([head.body, options.body], ["", ""]);
      assert.equal(head.headers.get("Content-Length"), String(Buffer.byteLength(got.body, "latin1")));
      assert.equal(options.headers.get("Content-Length"), "0");
      assert.equal(head.headers.get("X-Rolecall-Reason"), got.headers.get("X-Rolecall-Reason"));
    }
  });

  test("is the same for HTTP/1.0 and for a request without Host", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    for (const request of [
      "GET /nodes/pg1/primary HTTP/1.0\r\n\r\n",
      "GET /nodes/pg1/primary HTTP/1.1\r\nConnection: close\r\n\r\n",
    ]) {
      const { status, headers, body } = parseAnswer(await front.sendBytes(request));
      assert.equal(status, 200);
      assert.equal(headers.get("Connection"), "close");
      assert.equal(headers.get("Content-Length"), String(body.length));
    }
  });

  test("keeps the connection if the client does, and answers pipelined requests in order", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    const text = await front.sendBytes(
      "GET /nodes/pg1/primary HTTP/1.1\r\n\r\nHEAD /nodes/pg2/primary HTTP/1.1\r\n\r\nGET /livez HTTP/1.1\r\nConnection: close\r\n\r\n",
    );
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 503", "HTTP/1.1 200"]);
  });

  test("to `OPTIONS *` and to an absolute target is the path's", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), { routing: whole });
    assert.equal((await front.request("*", { method: "OPTIONS" })).status, 200);
    assert.equal((await front.request("http://elsewhere:1/nodes/pg1/primary")).status, 200);
  });

  test("contains no character of a name or document that would corrupt it", async (context) => {
    const watched = new ClusterFixture({ nodes: ["pg ü\u{1F418}", 'a"b'] });
    watched.follow("pg ü\u{1F418}", 0, { state: "ü\u{1F418}", patroni: {} });
    const front = await openNodeApiListener(context, watched);
    const odd = await front.request(`/nodes/${encodeURIComponent("pg ü\u{1F418}")}/replica`);
    assert.equal(odd.line, "HTTP/1.1 503 not_running ???");
    assert.equal(odd.headers.get("X-Rolecall-Node"), "pg ???");
    assert.equal(JSON.parse(Buffer.from(odd.body, "latin1").toString()).rolecall.node, "pg ü\u{1F418}");
    assert.equal(
      (await front.request(`/nodes/${encodeURIComponent('a"b')}/health`)).headers.get("X-Rolecall-Node"),
      'a"b',
    );
    const split = await front.request("/nodes/pg%0d%0aX-Evil:%201/health");
    assert.equal(split.status, 400);
    assert.equal(split.headers.has("X-Evil"), false);
    const parameter = await front.request(`/nodes/${encodeURIComponent('a"b')}/health?x%0d%0aX-Evil:=1`);
    assert.equal(parameter.line, "HTTP/1.1 400 bad_request parameter x??X-Evil:");
    assert.equal(parameter.headers.has("X-Evil"), false);
  });
});

describe("a check", () => {
  test("of the whole cluster is answered with the chosen node", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), { routing: whole });
    assert.equal((await front.request("/primary")).headers.get("X-Rolecall-Node"), "pg1");
    assert.equal((await front.request("/replica")).headers.get("X-Rolecall-Node"), "pg2");
    const none = await front.request("/sync");
    assert.deepEqual([none.line, none.headers.get("X-Rolecall-Node")], ["HTTP/1.1 503 none_fit", "-"]);
  });

  test("applies `miss` and `unknown`, but not to hard reasons", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    assert.equal((await front.request("/nodes/pg2/primary?miss=404")).status, 404);
    assert.equal((await front.request("/nodes/pg3/primary?miss=404&unknown=500")).status, 500);
    const blind = await openNodeApiListener(context, steadyCluster(), { nowMs: 60_000 });
    assert.equal((await blind.request("/nodes/pg1/primary?miss=404&unknown=404")).line, "HTTP/1.1 500 blind");
  });

  test("for sessions is 200 or 503, and a 200 states the lack of evidence that it passes over", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), { nowMs: 5_400 });
    const lagging = await front.request("/nodes/pg2/replica?lag=1MB&miss=404&for=sessions");
    assert.deepEqual([lagging.line, lagging.headers.has("X-Rolecall-Reason")], ["HTTP/1.1 200 OK", false]);
    const { line, headers, body } = await front.request("/nodes/pg3/replica?lag=1MB&unknown=500&for=sessions");
    assert.equal(line, "HTTP/1.1 200 unknown");
    assert.deepEqual([headers.get("X-Rolecall-Reason"), headers.get("X-Rolecall-Degraded")], ["unknown", "true"]);
    const { fit, reason, degraded } = JSON.parse(body).rolecall;
    assert.deepEqual({ fit, reason, degraded }, { fit: true, reason: "unknown", degraded: true });
    const blind = await openNodeApiListener(context, steadyCluster(), { nowMs: 60_000 });
    assert.equal((await blind.request("/nodes/pg1/primary?for=sessions")).line, "HTTP/1.1 200 blind");
    const watched = steadyCluster();
    watched.follow("pg3", 4_000);
    for (const atMs of [1_000, 2_000, 3_000]) watched.fail("pg2", "timeout", atMs);
    const down = await openNodeApiListener(context, watched, { nowMs: 5_600 });
    const silent = await down.request("/nodes/pg2/replica?unknown=500&miss=404&for=sessions");
    assert.equal(silent.line, "HTTP/1.1 503 down timeout");
    assert.equal((await down.request("/nodes/pg1/primary?for=sessions")).line, "HTTP/1.1 200 stale 6s");
  });

  test("for sessions needs a node", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), { routing: whole });
    const { status, body } = await front.request("/primary?for=sessions");
    assert.equal(status, 400);
    assert.equal(JSON.parse(body).allowed, "used with a check of one node, whose sessions it is about");
  });

  test("that keeps a lagging node fit is marked as degraded", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    const { status, headers, body } = await front.request("/nodes/pg2/replica?lag=1MB&keep=1");
    assert.deepEqual(
      [status, headers.get("X-Rolecall-Degraded"), JSON.parse(body).rolecall.degraded],
      [200, "true", true],
    );
  });

  test("for a zone refuses others softly, and not their open sessions", async (context) => {
    const api = (name: string, zone: string): { name: string; api: string; zone: string } => ({
      name,
      api: `http://${name}:8008`,
      zone,
    });
    const watched = new ClusterFixture({ nodes: [api("pg1", "a"), api("pg2", "a"), api("pg3", "b")] });
    watched.lead("pg1", 0);
    for (const name of ["pg2", "pg3"]) watched.follow(name, 0);
    const front = await openNodeApiListener(context, watched);
    const lineOf = async (target: string): Promise<string> => (await front.request(`/nodes/pg3/${target}`)).line;
    assert.equal(await lineOf("replica?zone=a"), "HTTP/1.1 503 other_zone b");
    assert.equal(await lineOf("replica?zone=a&miss=404"), "HTTP/1.1 404 other_zone b");
    assert.equal(await lineOf("replica?zone=a&miss=404&for=sessions"), "HTTP/1.1 200 OK");
    assert.equal(await lineOf("replica?zone=b"), "HTTP/1.1 200 OK");
  });

  test("compares the database address that HAProxy states", async (context) => {
    const watched = new ClusterFixture({
      nodes: [{ name: "pg1", api: "http://pg1:8008", database: { host: "10.0.0.1", port: 5432 } }],
    });
    watched.lead("pg1", 0);
    const front = await openNodeApiListener(context, watched);
    const at = async (state: string, query = ""): Promise<string> =>
      (await front.request(`/nodes/pg1/primary${query}`, { headers: [`X-Haproxy-Server-State: ${state}`] })).line;
    assert.equal(await at("UP 2/3; address=10.0.0.1; port=5432; name=bk/pg1"), "HTTP/1.1 200 OK");
    assert.equal(await at("UP 2/3; address=10.0.0.2; port=5432"), "HTTP/1.1 503 moved");
    assert.equal(await at("UP 2/3; address=10.0.0.2; port=5432", "?db=10.0.0.1:5432"), "HTTP/1.1 200 OK");
    assert.equal(await at("address=fd00::1; port=5432"), "HTTP/1.1 503 moved");
    for (const nonsense of ["", "address=10.0.0.2", "port=1", "address=; port=;", "address=x; port=99999"]) {
      assert.equal(await at(nonsense), "HTTP/1.1 200 OK");
    }
  });

  test("by Host ignores the case of a node's name", async (context) => {
    const watched = new ClusterFixture({ nodes: ["PG1"] });
    watched.lead("PG1", 0);
    const front = await openNodeApiListener(context, watched, {
      routing: routingContextOf({ hostSuffixes: [".db.internal"] }),
    });
    const ask = (host: string): Promise<string> =>
      front.sendBytes(`GET /primary HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(await ask("pg1.demo.db.internal:8008"), /^HTTP\/1\.1 200 OK/);
    assert.match(await ask("pg2.demo.db.internal"), /^HTTP\/1\.1 400 bad_request node/);
  });

  test("by path ignores a Host that names no node, and is refused once such a node is known", async (context) => {
    const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
    const members = (names: readonly string[], atMs: number): void => {
      const rows = names.map((name) => ({ name, role: "replica", api_url: `http://${name}:8008/patroni` }));
      watched.document("cluster", { of: "http://seed:8008", value: { scope: "demo", members: rows } }, atMs);
    };
    members(["pg1"], 0);
    watched.lead("pg1", 0);
    const front = await openNodeApiListener(context, watched, {
      routing: routingContextOf({ hostSuffixes: [".db.internal"] }),
    });
    const ask = (): Promise<string> =>
      front.sendBytes("GET /nodes/pg1/primary HTTP/1.1\r\nHost: lb.demo.db.internal\r\nConnection: close\r\n\r\n");
    assert.match(await ask(), /^HTTP\/1\.1 200 OK/);
    members(["pg1", "LB"], 1);
    assert.match(await ask(), /^HTTP\/1\.1 400 bad_request node/);
  });

  test("of an unknown node is 400 once the members are known, and `unknown` before", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster());
    const { status, body } = await front.request("/nodes/pg9/primary");
    assert.equal(status, 400);
    assert.deepEqual(
      { ...JSON.parse(body), message: "" },
      { error: "bad_request", thing: "node", value: "pg9", allowed: "one of pg1, pg2, pg3", message: "" },
    );
    const early = await openNodeApiListener(
      context,
      new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:1"] } }),
    );
    assert.equal((await early.request("/nodes/pg9/primary")).line, "HTTP/1.1 503 unknown");
  });
});

describe("a document with a value that only Python reads", () => {
  const written = `{"state": "running", "role": "primary", "timeline": 1, "xlog": {"location": 5}, "patroni": {"version": "4.1.5", "scope": "demo", "name": "pg1"}, "tags": {"weight": Infinity}}`;

  function led(): ClusterFixture {
    const watched = new ClusterFixture();
    const read = readStatusAfter({ status: 200, body: Buffer.from(written) }, null);
    assert.ok("result" in read);
    const { result } = read;
    watched.record({ kind: "status", cluster: "demo", node: "pg1", sentAtMs: 0, sentAtWallMs: 0, result }, 0);
    return watched;
  }

  test("is passed on as the node wrote it by a listener that is bound to the node", async (context) => {
    const front = await openNodeApiListener(context, led(), {
      routing: routingContextOf({ cluster: "demo", node: "pg1" }),
    });
    for (const target of ["/primary", "/patroni"]) {
      const { line, body } = await front.request(target);
      assert.equal(line, "HTTP/1.1 200 OK");
      assert.ok(body.startsWith(written.slice(0, -1)), body);
    }
  });

  test("is strict JSON on every other listener", async (context) => {
    const front = await openNodeApiListener(context, led(), { routing: whole });
    for (const target of ["/nodes/pg1/primary", "/nodes/pg1/patroni", "/primary"]) {
      const { line, body } = await front.request(target);
      assert.equal(line, "HTTP/1.1 200 OK");
      assert.deepEqual(JSON.parse(body).tags, { weight: null });
    }
  });
});

describe("a listener that is bound to a node", () => {
  const bound = { routing: routingContextOf({ cluster: "demo", node: "pg2" }) };

  for (const target of ["/liveness", "/readiness?lag=1GB", "/readiness?lag=1MB", "/readiness?for=sessions"]) {
    test(`answers ${target} without a body, as the node does`, async (context) => {
      const front = await openNodeApiListener(context, steadyCluster(), bound);
      const usual = await openNodeApiListener(context, steadyCluster());
      const other = await usual.request(`/nodes/pg2${target}`);
      for (const method of ["GET", "HEAD", "OPTIONS"]) {
        const { line, headers, body } = await front.request(target, { method });
        assert.deepEqual([line, body, headers.get("Content-Length")], [other.line, "", "0"]);
        assert.equal(headers.get("X-Rolecall-Reason"), other.headers.get("X-Rolecall-Reason"));
        assert.equal(headers.has("Content-Type"), false);
      }
      assert.equal(JSON.parse(other.body).rolecall.node, "pg2", "other listeners say what they judged");
    });
  }

  test("answers every other check with the node's document, and says what a bad request lacks", async (context) => {
    const front = await openNodeApiListener(context, steadyCluster(), bound);
    for (const target of ["/health", "/replica", "/primary", "/patroni"])
      assert.equal(JSON.parse((await front.request(target)).body).patroni.name, "pg2", target);
    const bad = await front.request("/readiness?lag=banana");
    assert.deepEqual([bad.status, JSON.parse(bad.body).error], [400, "bad_request"]);
  });

  for (const config of [
    '{"ttl": 30, "pause": true}',
    '{"ttl": 30, "pause": null}',
    '{"ttl": 30}',
    '{"ttl":30,"loop_wait":10}',
  ])
    test(`passes on /config as the node wrote it: ${config}`, async (context) => {
      const watched = steadyCluster();
      const read = readDocument("config", { status: 200, body: Buffer.from(config) }, { source: "pg1", sentAtMs: 0 });
      assert.ok("name" in read);
      watched.record({ kind: "document", cluster: "demo", answer: read }, 0);
      const { status, body } = await (await openNodeApiListener(context, watched, bound)).request("/config");
      assert.deepEqual([status, body], [200, config]);
    });
});
