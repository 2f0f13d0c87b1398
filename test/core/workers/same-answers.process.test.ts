import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { App } from "../../../src/app/app.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { openFakeNode } from "../../fake/fake-node.ts";
import { until } from "../../fake/until.ts";

/** A request as it is sent: its line, and its headers. */
type Lines = readonly string[];

/** Sends a request and returns the response without what differs from run to run. */
async function send(port: number, [line = "", ...lines]: Lines): Promise<string> {
  const [method = "", path = ""] = line.split(" ");
  const headers = Object.fromEntries(
    lines.map((header): [string, string] => [header.split(":", 1)[0] ?? "", header.replace(/^[^:]*: */, "")]),
  );
  const answer = await sendRequest(`http://127.0.0.1:${port}`, { method, headers, tls: { path } });
  const kept = Object.entries(answer.headers)
    .filter(([name]) => !/^(date|connection|keep-alive|x-request-id|content-length|transfer-encoding)$/.test(name))
    .map(([name, value]) => `${name}: ${String(value)}`);
  const body = answer.body.replace(/"(observed_at|snapshot|instance|lag_ms)":("[^"]*"|\d+)/g, '"$1":"?"');
  return [`${answer.status} ${answer.phrase}`, ...kept.toSorted(), "", body].join("\n");
}

interface Edge {
  readonly port: number;
  /** The last call that a node received, with the headers that a client can set. */
  readonly received: () => string;
}

async function edge(context: TestContext, workers: number, fastPath: boolean): Promise<Edge> {
  const received: string[] = [];
  const respond = (
    { method, path, headers }: { method: string; path: string; headers: object },
    response: { end(text: string): unknown },
  ): void => {
    const kept = Object.entries(headers).filter(([name]) => !["host", "x-request-id", "connection"].includes(name));
    received.push(
      JSON.stringify([method, path, Object.fromEntries(kept.toSorted(([one], [other]) => one.localeCompare(other)))]),
    );
    response.end("done");
  };
  const [pg1, pg2] = [
    await openFakeNode({ name: "pg1", holdsLock: true, respond }),
    await openFakeNode({ name: "pg2", holdsLock: false, respond }),
  ];
  const plain = configOf({
    clusters: [clusterOf({ nodes: [pg1, pg2].map(({ name, api }) => nodeOf({ name, api })) })],
    listen: [listenerOf({ cluster: "demo", wholeCluster: true, access: { ...unrestrictedAccess, management: true } })],
    hostSuffixes: [".db.internal"],
    workers,
    fastPath,
  });
  let started = 0;
  const lines = new PassThrough().on(
    "data",
    (line: Buffer) => (started += /"worker started"/.test(String(line)) ? 1 : 0),
  );
  const app = new App(plain, pino({}, lines));
  context.after(async () => {
    await app.stop({ drains: false });
    await Promise.all([pg1.close(), pg2.close()]);
  });
  await app.start();
  await until({ what: "the workers", seconds: 60 }, () => started === workers);
  const port = app.listeners[0]?.port ?? 0;
  await until(
    "pg1 fit as the primary",
    async () => (await sendRequest(`http://127.0.0.1:${port}/nodes/pg1/primary`)).status === 200,
  );
  await until("pg2 fit", async () => (await sendRequest(`http://127.0.0.1:${port}/nodes/pg2/health`)).status === 200);
  return { port, received: () => received.at(-1) ?? "" };
}

const named = ["X-Rolecall-Node: pg2"];
const calls: readonly (readonly [target: string, headers: readonly string[]])[] = [
  ["GET /health", named],
  ["GET /replica", named],
  ["GET /primary", named],
  ["GET /primary?for=sessions", named],
  ["GET /replica?lag=1MB&for=sessions", ["X-Rolecall-Node: pg1"]],
  ["GET /replica?for=session", named],
  ["GET /primary?for=sessions", []],
  ["GET /health", ["Host: pg2.demo.db.internal"]],
  ["GET /health", [...named, "X-Haproxy-Server-State: UP 1/1; address=10.9.9.9; port=5432"]],
  ["GET /metrics", named],
  ["GET /metrics", ["Host: pg2.demo.db.internal"]],
  ["POST /reload", named],
  [
    "POST /reload",
    ["Host: pg2.demo.db.internal", "X-Own: 1", "Authorization: Basic YTpi", "X-Forwarded-For: 10.1.1.1"],
  ],
  ["POST /reload", []],
];
const connections: readonly (readonly string[])[] = [
  [],
  ["Connection: close"],
  ["Connection: X-Rolecall-Node"],
  ["Connection: close, x-rolecall-node, X-Haproxy-Server-State, Host"],
  ["Connection: host, content-length, x-own, authorization, x-forwarded-for"],
  ["Connection: X-Rolecall-Relay, X-Rolecall-Relay-From", "X-Rolecall-Relay: a", "X-Rolecall-Relay-From: b"],
];
/** Targets in the forms that RFC 9112 knows, and others that a proxy on the way could tidy. */
const targets = [
  "GET http://other.example/nodes/pg2/metrics",
  "GET http://[/nodes/pg2/metrics",
  "GET //nodes/pg2/metrics",
  "GET /nodes/pg1/../pg2/metrics",
  "GET /nodes/pg2/./metrics",
  "GET /nodes/%70g2/metrics",
  "GET /nodes/pg2/metrics?",
  "GET /nodes/pg2/metrics?a=1?b=2",
  "GET \\nodes\\pg2\\metrics",
  "OPTIONS *",
  "POST /nodes/pg2/reload/",
];

test(
  "gives the same answers with and without workers, and with and without the fast path",
  { timeout: 120_000 },
  async (context) => {
    const [plain, slow, relayed] = [
      await edge(context, 0, true),
      await edge(context, 0, false),
      await edge(context, 2, true),
    ];
    const requests = [
      ...calls.flatMap(([target, headers]) => connections.map((connection) => [target, ...headers, ...connection])),
      ...targets.map((target) => [target, "Host: a"]),
    ];
    for (const lines of requests) {
      const wanted = await send(slow.port, lines);
      const wantedAtNode = slow.received();
      for (const { port, received } of [plain, relayed]) {
        assert.equal(await send(port, lines), wanted, lines.join("\n"));
        assert.equal(received(), wantedAtNode, lines.join("\n"));
      }
    }
  },
);

test("uses our own headers even if Connection names them", { timeout: 60_000 }, async (context) => {
  for (const workers of [0, 2]) {
    const { port, received } = await edge(context, workers, true);
    const headers = ["X-Rolecall-Node: pg2", "X-Own: 1", "Connection: X-Rolecall-Node, X-Own"];
    assert.match(await send(port, ["GET /primary", ...headers]), /^503 wrong_role/);
    assert.match(await send(port, ["GET /metrics", ...headers]), /x-rolecall-node: pg2[^]*done/);
    assert.doesNotMatch(received(), /x-own/);
  }
});
