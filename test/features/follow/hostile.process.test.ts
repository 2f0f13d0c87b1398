import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { answerOf, startInstance, waitForAnswer } from "../../fake/followed-pair.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 120_000 };

/** Opens an upstream that answers every request so. @returns its address */
async function openUpstream(context: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

const line = (message: object): Buffer => gzipSync(`${JSON.stringify(message)}\n`);
const hello = {
  version: "9",
  instance: "x",
  stream: "s",
  group: "g",
  resumed: false,
  token: 1,
  refused: [],
  at: 0,
  added: 0,
};

const emptyState = {
  name: "demo",
  scope: null,
  nodes: [],
  isMembershipKnown: true,
  hasAskedAll: true,
  contacts: [],
  addressDisputes: [],
  lockClaims: [],
  leadership: {
    decision: { kind: "unclaimed", lastHolder: null },
    lostClaims: [],
    refusedClaims: [],
    incumbent: null,
    lastLoss: null,
    savedClaim: null,
  },
  leaderViews: [],
  failedViews: [],
  position: null,
  statedOn: null,
  positionSamples: [],
  lastStatement: null,
  newestReportAtMs: "-Infinity",
  drains: [],
  dcs: null,
  documents: { cluster: null, config: null, history: null, failsafe: null },
  config: null,
  switchPoints: null,
};
const otherNode = (node: string): object => {
  const text = JSON.stringify({ role: "replica", state: "running", padding: "x".repeat(100_000) });
  return { cluster: "demo", kind: "status", node, ageMs: 0, lock: false, text };
};
const drainOf = (node: string): object => {
  const drain = { reason: "r", by: null, extent: "all", leftMs: 1e6, since: "", until: "" };
  return { cluster: "demo", kind: "drain", node, drain };
};

/** What upstreams answer that are none, or mean harm. */
const upstreams: Readonly<Record<string, RequestListener>> = {
  "answers nothing": () => {},
  "closes the connection": (request) => void request.socket.destroy(),
  "answers 200 and then nothing": (_, response) => response.writeHead(200).flushHeaders(),
  redirects: (_, response) => void response.writeHead(302, { Location: "/elsewhere" }).end(),
  "says no without a word": (_, response) => void response.writeHead(403).end(),
  "says no without an end": (_, response) => {
    response.writeHead(503);
    const timer = setInterval(() => response.write("x".repeat(65_536)), 1);
    response.on("close", () => clearInterval(timer));
  },
  "sends no gzip": (_, response) => void response.writeHead(200).write("plain text\n"),
  "sends a line without an end": (_, response) => {
    response.writeHead(200);
    const bytes = gzipSync("x".repeat(1_048_576));
    const timer = setInterval(() => response.write(bytes), 1);
    response.on("close", () => clearInterval(timer));
  },
  "sends lines that are no messages": (_, response) => {
    response.writeHead(200);
    for (const text of ["{", "[]", "null", '{"hello":1}', '{"full":{}}', '{"changes":[],"seq":"x"}', "\u0000"])
      response.write(gzipSync(`${text}\n`));
  },
  "greets and is silent": (_, response) => void response.writeHead(200).write(line({ hello })),
  "sends a state that is none": (_, response) => {
    response.writeHead(200).write(line({ hello }));
    for (const state of [null, {}, { name: "demo", nodes: [{}] }, "x"])
      response.write(line({ full: { cluster: "demo", form: 1, state, at: 0, added: 0 } }));
  },
  "sends changes of what it has not sent": (_, response) => {
    response.writeHead(200).write(line({ hello }));
    const change = { cluster: "demo", kind: "status", node: "pg1", ageMs: 0, lock: true, same: true };
    response.write(line({ changes: [change, { cluster: "other" }, 1], seq: 1, at: 1, added: 0 }));
  },
  "is of the future": (_, response) => {
    response.writeHead(200).write(line({ hello: { ...hello, at: -1e15 } }));
    response.write(line({ full: { cluster: "demo", form: 2, state: {}, at: 1e15, added: 0 } }));
    response.write(line({ ready: true }));
  },
};

for (const [what, answer] of Object.entries(upstreams))
  test(`an upstream that ${what} costs no answer`, limit, async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const follow = [await openUpstream(context, answer)];
    const edge = await startInstance(context, { nodes, follow });
    await until("a probe", async () => (await answerOf(edge, "/nodes/pg1/primary")).startsWith("200"));
    const endMs = performance.now() + 1_500;
    while (performance.now() < endMs) assert.match(await answerOf(edge, "/nodes/pg2/replica"), /^200/);
    assert.doesNotMatch(edge.process.stderr, /internal error/);
    assert.equal(edge.process.process.exitCode, null);
  });

test(
  "an upstream that states ever other nodes costs no other cluster an answer, and memory that does not grow with what it sends",
  limit,
  async (context) => {
    // 1.5 GB of documents.
    const flood = Array.from({ length: 300 }, (_, seq) => {
      const statuses = Array.from({ length: 50 }, (__, at) => otherNode(`x${seq}-${at}`));
      return line({ changes: [...statuses, drainOf(`x${seq}`)], seq: seq + 1, at: seq, added: 0 });
    });
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const [other = assert.fail("there is a node")] = await openFakeCluster(context, ["pg1"]);
    let unsent = flood.length;
    const upstream = await openUpstream(context, (_, response) => {
      response.writeHead(200).write(line({ hello }));
      response.write(line({ full: { cluster: "demo", form: 1, state: emptyState, at: 0, added: 0 } }));
      response.write(line({ ready: true }));
      const timer = setInterval(() => {
        response.write(flood[flood.length - unsent] ?? "");
        unsent -= 1;
        if (unsent <= 0) clearInterval(timer);
      }, 5);
      response.on("close", () => clearInterval(timer));
    });
    const clusters = `, { name: other, scope: demo, nodes: [{ name: pg1, api: ${JSON.stringify(other.api)} }], follow: [] }`;
    const edge = await startInstance(context, { nodes, follow: [upstream], clusters });
    const path = "/clusters/other/nodes/pg1/primary";
    await waitForAnswer(edge, path, /^200/);
    await until("the end of the flood", async () => {
      assert.match(await answerOf(edge, path), /^200/);
      return unsent <= 0;
    });
    const { body } = await sendRequest(`${edge.admin}/metrics`);
    const rss = Number(/^process_resident_memory_bytes (\S+)/m.exec(body)?.[1]);
    // Node 24 has had up to 500 MB, Node 20 up to 390, after 250 MB, 500 MB and 1.5 GB alike: what was not collected yet.
    assert.ok(rss < 600e6, `${rss} bytes`);
  },
);

test("followers that mean harm cost no answer", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const owner = await startInstance(context, { nodes });
  const post = (path: string, body: string): Promise<{ readonly status: number }> =>
    sendRequest(`${owner.admin}${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  for (const [body, status] of [
    ["", 400],
    ["{}", 400],
    ['{"protocol":1}', 400],
    [JSON.stringify({ ...follower, clusters: [] }), 400],
    [JSON.stringify({ ...follower, protocol: 2 }), 503],
  ] as const)
    assert.equal((await post("/feed", body)).status, status, body);
  for (const body of ["{}", '{"stream":"x","token":1}']) assert.equal((await post("/feed/echo", body)).status, 404);
  assert.equal((await sendRequest(`${owner.admin}/feed`)).status, 405);
  // Who opens streams and reads nothing.
  const sockets = Array.from({ length: 300 }, () => {
    const socket = connect(Number(new URL(owner.admin).port), "127.0.0.1").pause();
    const body = JSON.stringify(follower);
    socket.on("error", () => {});
    socket.write(
      `POST /feed HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  });
  context.after(() => sockets.forEach((socket) => socket.destroy()));
  await until("a refusal", async () => (await post("/feed", JSON.stringify(follower))).status === 503);
  for (let count = 0; count < 100; count += 1) assert.match(await answerOf(owner, "/nodes/pg1/primary"), /^200/);
  for (const socket of sockets) socket.destroy();
  const edge = await startInstance(context, { nodes, follow: [owner.admin] });
  await edge.process.waitForLog("upstream followed");
  assert.doesNotMatch(owner.process.stderr, /internal error/);
});

const follower = {
  protocol: 1,
  version: "9",
  name: "x",
  token: 1,
  clusters: [{ name: "demo", shape: {} }],
  resume: null,
};
