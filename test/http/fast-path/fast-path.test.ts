import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import * as fc from "fast-check";
import { withDrains } from "../../../src/health/observe/drains.ts";
import { NodeApi } from "../../../src/http/node-api/node-api.ts";
import { isDeepStrictEqual } from "node:util";
import type { ResponseCache } from "../../../src/http/node-api/response-cache.ts";
import { unrestrictedAccess } from "../../../src/config/model/listener-access-config.ts";
import { Listener, type ListenerEvents } from "../../../src/http/listener/listener.ts";
import type { ListenerHandler } from "../../../src/http/message/handler.ts";
import { exchange, type Exchange } from "../../fake/raw-client.ts";
import { storedCluster } from "../../fake/stored-cluster.ts";

const events: ListenerEvents = {
  onError: (error) => {
    throw error;
  },
  onRejected: () => {},
  onFiles: () => {},
};

/** Two listeners on the same evidence and a clock that stands still: one with the fast lane, one without. */
const cluster = storedCluster();
const hot = { current: makeHot() };
const lanes: { fast: Listener; ordinary: Listener; fastPort: number; ordinaryPort: number } = {
  fast: new Listener(handler(true), unrestrictedAccess, events),
  ordinary: new Listener(handler(false), unrestrictedAccess, events),
  fastPort: 0,
  ordinaryPort: 0,
};

function makeHot(): ResponseCache {
  return new NodeApi(cluster.listening, cluster.sources()).cached();
}

function handler(isQuick: boolean): ListenerHandler {
  const dialect = new NodeApi(cluster.listening, cluster.sources());
  return Object.assign(
    (request: Parameters<ListenerHandler>[0]) => dialect.handle(request),
    isQuick ? { cached: hot.current } : {},
  );
}

before(async () => {
  lanes.fastPort = await lanes.fast.open({ address: "127.0.0.1", port: 0 });
  lanes.ordinaryPort = await lanes.ordinary.open({ address: "127.0.0.1", port: 0 });
});
after(() => Promise.all([lanes.fast.close(0), lanes.ordinary.close(0)]));

/**
 * A server that refuses what it reads closes with bytes unread, and then a reset may overtake what it has written: such an exchange is
 * tried again, and a real difference comes again each time.
 */
async function assertAlike(pieces: readonly string[]): Promise<void> {
  const bytes = pieces.map((piece) => Buffer.from(piece, "latin1"));
  for (let time = 1; ; time += 1) {
    const [fast, ordinary] = await Promise.all([exchange(lanes.fastPort, bytes), exchange(lanes.ordinaryPort, bytes)]);
    if (isDeepStrictEqual(fast, ordinary) || isCutShort(pieces, fast, ordinary)) return;
    if (time === 5) assert.deepEqual(fast, ordinary);
  }
}

/**
 * The one difference there is: where nonsense follows a whole request in one packet, node:http cuts the connection in both lanes, but
 * fewer of the answers before it may still go out, and its bare 400 with or without them, for a packet handed over is read in
 * one go. No answer that was given differs, and no request that comes alone is concerned.
 */
function isCutShort(pieces: readonly string[], fast: Exchange, ordinary: Exchange): boolean {
  const text = pieces.join("");
  const isAlone = text.indexOf("\r\n\r\n") + 4 >= text.length;
  if (isAlone || fast.fate !== "closed" || ordinary.fate !== "closed") return false;
  const [one, other] = [fast.bytes.replace(bareRefusal, ""), ordinary.bytes.replace(bareRefusal, "")];
  return one.startsWith(other) || other.startsWith(one);
}

const bareRefusal = /HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/;

const corpus: Readonly<Record<string, readonly string[]>> = {
  "a plain check": ["GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a check that is a no": ["GET /nodes/pg2/primary HTTP/1.1\r\nHost: a\r\n\r\n"],
  "a check of the whole cluster": ["GET /clusters/demo/replica?lag=1MB HTTP/1.1\r\n\r\n"],
  "a status document": ["GET /nodes/pg2/patroni HTTP/1.1\r\n\r\n"],
  HEAD: ["HEAD /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n"],
  OPTIONS: ["OPTIONS /nodes/pg1/replica HTTP/1.1\r\nHost: a\r\n\r\n"],
  "HTTP/1.0": ["GET /nodes/pg1/primary HTTP/1.0\r\n\r\n"],
  "HTTP/1.0 with a kept connection": ["GET /nodes/pg1/primary HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"],
  "a closed connection": ["GET /nodes/pg1/primary HTTP/1.1\r\nconnection: CLOSE\r\n\r\n"],
  "a kept connection in words": ["GET /nodes/pg1/primary HTTP/1.1\r\nConnection:  Keep-Alive \r\n\r\n"],
  "a Connection of two words": ["GET /nodes/pg1/primary HTTP/1.1\r\nConnection: close, te\r\n\r\n"],
  "the node by header": ["GET /primary HTTP/1.1\r\nX-Rolecall-Node: pg2\r\n\r\n"],
  "the node by two headers": ["GET /primary HTTP/1.1\r\nX-Rolecall-Node: pg2\r\nX-Rolecall-Node: pg1\r\n\r\n"],
  "the node by Host": ["GET /primary HTTP/1.1\r\nHost: pg2.demo.db.internal:80\r\n\r\n"],
  "a server state": [
    "GET /nodes/pg1/primary HTTP/1.1\r\nX-Haproxy-Server-State: UP; address=10.0.0.9; port=5432\r\n\r\n",
  ],
  "no node": ["GET /primary HTTP/1.1\r\n\r\n"],
  "an unknown node": ["GET /nodes/pg9/primary HTTP/1.1\r\n\r\n"],
  "an unknown route": ["GET /nothing HTTP/1.1\r\n\r\n"],
  "our own health": ["GET /readyz HTTP/1.1\r\n\r\n"],
  "another method": ["DELETE /nodes/pg1/primary HTTP/1.1\r\n\r\n"],
  "a management call": ["POST /nodes/pg1/restart HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"],
  "a check with a body": ["GET /nodes/pg1/primary HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"],
  "a check with an empty body": ["GET /nodes/pg1/primary HTTP/1.1\r\nContent-Length: 0\r\n\r\n"],
  "a chunked body": ["GET /nodes/pg1/primary HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  "length and chunks at once": [
    "GET /nodes/pg1/primary HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  "two lengths": ["GET /nodes/pg1/primary HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
  "a hidden second request": ["GET /nodes/pg1/primary HTTP/1.1\r\nX: a\r\n\r\nGET /nodes/pg2/primary HTTP/1.1\r\n\r\n"],
  "pipelined checks": [
    "GET /nodes/pg1/primary HTTP/1.1\r\n\r\nHEAD /nodes/pg2/primary HTTP/1.1\r\n\r\nGET /nodes/pg3/replica HTTP/1.1\r\n\r\n",
  ],
  "a check split in its line": ["GET /nodes/pg1/pri", "mary HTTP/1.1\r\n\r\n"],
  "a check split before its last byte": ["GET /nodes/pg1/primary HTTP/1.1\r\n\r", "\n"],
  "a simple check before a split one": [
    "GET /nodes/pg1/primary HTTP/1.1\r\n\r\n",
    "GET /nodes/pg2/primary HT",
    "TP/1.1\r\n\r\n",
  ],
  "checks one after the other": [
    "GET /nodes/pg1/primary HTTP/1.1\r\n\r\n",
    "GET /nodes/pg1/primary HTTP/1.1\r\n\r\n",
    "GET /nodes/pg1/primary HTTP/1.1\r\n\r\n",
  ],
  "bare line feeds": ["GET /nodes/pg1/primary HTTP/1.1\nHost: a\n\n"],
  "a bare carriage return": ["GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\rb\r\n\r\n"],
  "a folded header": ["GET /nodes/pg1/primary HTTP/1.1\r\nX: a\r\n b\r\n\r\n"],
  "a space before the colon": ["GET /nodes/pg1/primary HTTP/1.1\r\nHost : a\r\n\r\n"],
  "a header without a name": ["GET /nodes/pg1/primary HTTP/1.1\r\n: a\r\n\r\n"],
  "an empty header": ["GET /nodes/pg1/primary HTTP/1.1\r\nX:\r\n\r\n"],
  "a NUL": ["GET /nodes/pg1/primary HTTP/1.1\r\nX: a\0b\r\n\r\n"],
  "bytes beyond ASCII": ["GET /nodes/pg1/primary HTTP/1.1\r\nX: \xe9\r\n\r\n"],
  "line feeds before the request": ["\r\n\r\nGET /nodes/pg1/primary HTTP/1.1\r\n\r\n"],
  "two spaces": ["GET  /nodes/pg1/primary HTTP/1.1\r\n\r\n"],
  "a lower-case method": ["get /nodes/pg1/primary HTTP/1.1\r\n\r\n"],
  "another version": ["GET /nodes/pg1/primary HTTP/1.2\r\n\r\n"],
  "HTTP/2 preface": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  "no version": ["GET /nodes/pg1/primary\r\n\r\n"],
  "an absolute target": ["GET http://a/nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n\r\n"],
  "an asterisk": ["OPTIONS * HTTP/1.1\r\n\r\n"],
  "a fragment": ["GET /nodes/pg1/primary#a HTTP/1.1\r\n\r\n"],
  "an upgrade": ["GET /nodes/pg1/primary HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"],
  "an Expect": ["GET /nodes/pg1/primary HTTP/1.1\r\nExpect: 100-continue\r\n\r\n"],
  credentials: ["GET /nodes/pg1/primary HTTP/1.1\r\nAuthorization: Basic YTpi\r\n\r\n"],
  "two Hosts": ["GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
  "a target that is too long": [`GET /nodes/pg1/primary?be=${"a".repeat(2_100)} HTTP/1.1\r\n\r\n`],
  "a head that is too long": [`GET /nodes/pg1/primary HTTP/1.1\r\nX: ${"a".repeat(20_000)}\r\n\r\n`],
  "a long head that is not": [`GET /nodes/pg1/primary HTTP/1.1\r\nX: ${"a".repeat(6_000)}\r\n\r\n`],
  nothing: [],
};

suite("the fast lane", () => {
  for (const [name, pieces] of Object.entries(corpus)) {
    test(`${name} is answered as by the ordinary lane`, async () => {
      // Three times: a request is rendered at first, kept the second time, and comes from what is kept the third.
      for (let time = 0; time < 3; time += 1) await assertAlike(pieces);
    });
  }

  test("whatever is sent, in whatever pieces, both lanes write the same bytes and leave the same connection", async () => {
    await fc.assert(
      fc.asyncProperty(stream(), async (pieces) => assertAlike(pieces)),
      { numRuns: 400, endOnFailure: true },
    );
  });

  test("a check leaves its connection open, and one that says so closed", async () => {
    const fates = ["keep-alive", "close"].map(async (word) => {
      const check = Buffer.from(`GET /nodes/pg1/primary HTTP/1.1\r\nConnection: ${word}\r\n\r\n`);
      return (await exchange(lanes.fastPort, [check])).fate;
    });
    assert.deepEqual(await Promise.all(fates), ["open", "closed"]);
  });

  test("a keep-alive check that comes again is answered from what is kept", async () => {
    const check = Buffer.from("GET /nodes/pg3/replica HTTP/1.1\r\nHost: twice\r\n\r\n");
    const size = hot.current.size;
    await exchange(lanes.fastPort, [check]);
    assert.equal(hot.current.size, size, "the first coming keeps nothing");
    await exchange(lanes.fastPort, [check]);
    assert.equal(hot.current.size, size + 1);
  });

  test("an operator's drain shows in the very next answer, though no probe came", async () => {
    const check = Buffer.from("GET /nodes/pg2/replica HTTP/1.1\r\nHost: drained\r\n\r\n");
    for (let time = 0; time < 3; time += 1)
      assert.match((await exchange(lanes.fastPort, [check])).bytes, /^HTTP\/1\.1 200 OK\r\n/);
    const state = cluster.part();
    const policy = cluster.store.policyOf("demo");
    assert.ok(policy !== undefined);
    const drain = { reason: "work", by: null, isAll: false, untilMs: Infinity, since: "", until: "" };
    cluster.store.replace([{ cluster: withDrains(state, "pg2", { drain, nowMs: cluster.nowMs }), policy }]);
    assert.match((await exchange(lanes.fastPort, [check])).bytes, /^HTTP\/1\.1 503 drained work\r\n/);
    cluster.store.replace([{ cluster: state, policy }]);
  });
});

const lines = [
  "GET /nodes/pg1/primary HTTP/1.1",
  "HEAD /nodes/pg2/replica?lag=1MB HTTP/1.1",
  "OPTIONS /primary HTTP/1.0",
  "GET /clusters/demo/health HTTP/1.1",
  "POST /nodes/pg1/reload HTTP/1.1",
  "GET /readyz HTTP/1.1",
  "GET /livez HTTP/1.1",
  "GET /nodes/pg1/primary?x=[1] HTTP/1.1",
];
const headers = [
  "Host: a",
  "host:\tpg1.demo.db.internal ",
  "X-Rolecall-Node: pg1",
  "x-rolecall-node:pg2",
  "Connection: close",
  "Connection: keep-alive",
  "CONNECTION: Close",
  "Connection: foo",
  "Proxy-Connection: close",
  "Content-Length: 3",
  "Content-Length: 0",
  "content-length: +3",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: xchunked",
  "TE: trailers",
  "Expect: 100-continue",
  "Upgrade: h2c",
  "Accept: */*",
  "X y: 1",
  "X:\x01",
  ": a",
  " folded",
  "X-Haproxy-Server-State: UP; address=::1; port=1",
];
const ends = ["\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n"];

/** Streams of mostly right requests with wrong ones among them, cut into pieces anywhere. */
function stream(): fc.Arbitrary<string[]> {
  const line = fc.tuple(
    fc.constantFrom(...lines),
    fc.array(fc.constantFrom(...headers), { maxLength: 4 }),
    fc.constantFrom("", "", "", "abc", "0\r\n\r\n"),
  );
  const request = fc
    .tuple(line, fc.constantFrom(...ends), fc.boolean())
    .map(([[first, rest, body], end, isPlain]) => [first, ...rest, "", ""].join(isPlain ? "\r\n" : end) + body);
  const damage = fc.option(fc.tuple(fc.nat(200), fc.constantFrom("\0", "\n", "\r", " ", "\xff", ":", "")), { freq: 4 });
  return fc
    .tuple(
      fc.array(request, { minLength: 1, maxLength: 3 }),
      damage,
      fc.array(fc.nat(300), { maxLength: 3 }),
      fc.boolean(),
    )
    .map(([requests, wound, cuts, isWhole]) => {
      if (isWhole && wound === null) return requests;
      const text = requests.join("");
      const hurt = wound === null ? text : text.slice(0, wound[0]) + wound[1] + text.slice(wound[0] + 1);
      const at = [0, ...cuts.map((cut) => Math.min(cut, hurt.length)).sort((one, other) => one - other), hurt.length];
      return at
        .slice(1)
        .map((to, index) => hurt.slice(at[index], to))
        .filter((piece) => piece !== "");
    });
}
