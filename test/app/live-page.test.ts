import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { App } from "../../src/app/app.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../fake/config.ts";
import { openEventStream } from "../fake/event-stream-client.ts";
import { openFakeCluster, type FakeNode } from "../fake/fake-node.ts";
import { sendRequest } from "../fake/http-request.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes } from "./app-fixture.ts";

const admin = listenerOf({ dialect: "admin" });
const html = { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" };

interface Fixture {
  readonly app: App;
  readonly url: string;
  readonly nodes: readonly FakeNode[];
}

async function openApp(context: TestContext): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] })));
  await app.start();
  return { app, nodes, url: `http://127.0.0.1:${portFor(app, admin)}` };
}

test("a browser gets the page at /, a program JSON as before", limit, async (context) => {
  const { url } = await openApp(context);
  const page = await sendRequest(`${url}/`, { headers: html });
  assert.deepEqual([page.status, page.headers["content-type"]], [200, "text/html; charset=utf-8"]);
  assert.match(String(page.headers["content-security-policy"]), /^default-src 'self';/);
  assert.equal(page.headers.vary, "Accept, Accept-Encoding");
  for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }, { accept: "text/html;q=0" }]) {
    const answer = await sendRequest(`${url}/`, { headers });
    assert.deepEqual([answer.status, JSON.parse(answer.body).error], [404, "not_found"]);
  }
  const head = await sendRequest(`${url}/?x=1`, { method: "HEAD", headers: html });
  assert.deepEqual([head.status, head.headers["content-length"], head.body], [200, page.headers["content-length"], ""]);
  assert.equal((await sendRequest(`${url}/`, { method: "POST", headers: html })).status, 405);
});

test("serves the files of the page with types, compression and revalidation", limit, async (context) => {
  const { url } = await openApp(context);
  const plain = await sendRequest(`${url}/page/vendor/preact.js`);
  assert.deepEqual([plain.status, plain.headers["content-type"]], [200, "text/javascript; charset=utf-8"]);
  assert.equal(plain.headers["x-content-type-options"], "nosniff");
  assert.doesNotMatch(plain.body, /sourceMappingURL/);
  const etag = String(plain.headers.etag);
  const gzipped = await fetch(`${url}/page/vendor/preact.js`, { headers: { "accept-encoding": "gzip" } });
  assert.equal(gzipped.headers.get("content-encoding"), "gzip");
  assert.equal(await gzipped.text(), plain.body);
  const refused = await sendRequest(`${url}/page/vendor/preact.js`, { headers: { "accept-encoding": "gzip;q=0, br" } });
  assert.equal(refused.headers["content-encoding"], undefined);
  const known = await sendRequest(`${url}/page/vendor/preact.js`, { headers: { "if-none-match": `"x", W/${etag}` } });
  assert.deepEqual([known.status, known.body, known.headers.etag], [304, "", etag]);
});

for (const path of [
  "/page",
  "/page/",
  "/page/vendor",
  "/page/index.html",
  "/page/build.mjs",
  "/page/../package.json",
  "/page/..%2f..%2fpackage.json",
  "/page/%2e%2e/main.js",
  "/page//etc/passwd",
  "/page/vendor%5c..%5capp.js",
  "/page/__proto__",
]) {
  test(`${path} is no file of the page`, limit, async (context) => {
    const { url } = await openApp(context);
    assert.equal((await sendRequest(`${url}${path}`, { headers: html })).status, 404);
  });
}

test("the stream sends clusters, then changes and events as they happen", limit, async (context) => {
  const { url, nodes } = await openApp(context);
  const fleet = await openEventStream(context, `${url}/events/stream`);
  const one = await openEventStream(context, `${url}/events/stream?cluster=demo`);
  await Promise.all([fleet.next("ready"), one.next("ready")]);
  assert.deepEqual(
    fleet.messages.slice(0, 3).map(({ name }) => name),
    ["hello", "rows", "ready"],
  );
  await nodes[1]?.close();
  const event = await fleet.next("event", ({ data }) => data["kind"] === "node_down");
  assert.match(String(event.id), /^\d+\.\d+$/);
  assert.equal(event.data["id"], event.id);
  await fleet.next("rows", ({ data }) => (data["rows"] as { problem_count: number }[])[0]?.problem_count === 1);
  const isDown = (node: { node: string; reason: string | null }): boolean => node.reason === "down";
  await one.next("cluster", ({ data }) => (data["nodes"] as { node: string; reason: string }[]).some(isDown));
  fleet.close();
  const again = await openEventStream(context, `${url}/events/stream`, { "last-event-id": "1.1" });
  await again.next("reset");
  const replayed = await openEventStream(context, `${url}/events/stream`, { "last-event-id": String(event.id) });
  await replayed.next("ready");
  assert.equal(
    replayed.messages.some(({ id }) => id === event.id),
    false,
  );
});

test("streams end at a reload and at the stop, and no new one opens while stopping", limit, async (context) => {
  const { app, url, nodes } = await openApp(context);
  const before = await openEventStream(context, `${url}/events/stream`);
  await before.next("ready");
  const restricted = listenerOf({ dialect: "admin", cluster: "demo" });
  const other = clusterOf({ name: "other", nodes: [nodeOf({ name: "x", api: "http://127.0.0.1:1" })] });
  await app.apply(withQuickProbes(configOf({ clusters: [fixedCluster(nodes), other], listen: [restricted] })));
  assert.deepEqual((await before.next("bye")).data, { reason: "reload" });
  const after = await openEventStream(context, `http://127.0.0.1:${portFor(app, restricted)}/events/stream`);
  await after.next("ready");
  const clusters = after.messages.flatMap(({ data }) => (data["rows"] ?? []) as { cluster: string }[]);
  assert.deepEqual([...new Set(clusters.map(({ cluster }) => cluster))], ["demo"], "the listener is for one cluster");
  await app.stop({ drains: false });
  assert.deepEqual((await after.next("bye")).data, { reason: "stopping" });
});

test("refuses more streams than one client may have, unknown clusters and parameters", limit, async (context) => {
  const { url } = await openApp(context);
  const open = await Promise.all(Array.from({ length: 16 }, () => openEventStream(context, `${url}/events/stream`)));
  const refused = await sendRequest(`${url}/events/stream`);
  assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "5"]);
  open[0]?.close();
  await until("a free place", async () => {
    const next = await openEventStream(context, `${url}/events/stream`);
    return next.status === 200;
  });
  assert.equal((await sendRequest(`${url}/events/stream?cluster=nope`)).status, 400);
  assert.equal((await sendRequest(`${url}/events/stream?x=1`)).status, 400);
  assert.equal((await sendRequest(`${url}/events/stream`, { method: "POST" })).status, 405);
});

test("shows the last document of a node unchanged, and none of an unknown node", limit, async (context) => {
  const { url, nodes } = await openApp(context);
  const [node] = nodes;
  if (node !== undefined) node.fields = { own: ["<b>", 1] };
  const path = `${url}/clusters/demo/nodes/pg1/document`;
  await until("the new field", async () => (await sendRequest(path)).body.includes('"own": ["<b>", 1]'));
  const { cluster, node: name, document } = JSON.parse((await sendRequest(`${url}/nodes/pg1/document`)).body);
  assert.deepEqual([cluster, name, document.role], ["demo", "pg1", "primary"]);
  assert.equal((await sendRequest(`${url}/clusters/demo/nodes/nope/document`)).status, 404);
  assert.equal((await sendRequest(`${url}/clusters/nope/nodes/pg1/document`)).status, 404);
  assert.equal((await sendRequest(path, { method: "DELETE" })).status, 405);
});

test("page and stream follow the allowlist and the authentication of the listener", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const access = { ...unrestrictedAccess, allow: ["10.0.0.0/8"] };
  const closed = listenerOf({ dialect: "admin", access });
  const app = appOf(context, configOf({ clusters: [fixedCluster(nodes)], listen: [closed] }));
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, closed)}`;
  for (const path of ["/", "/page/vendor/preact.js", "/events/stream"])
    assert.equal((await sendRequest(`${url}${path}`, { headers: html })).status, 403, path);
});
