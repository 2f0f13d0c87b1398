import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { ByteBudget } from "../../../../src/core/probe/client/byte-budget.ts";
import { NodeClient, type NodeReply } from "../../../../src/core/probe/client/client.ts";
import { freePort } from "../../../fake/free-port.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { ListedBudget } from "../../../fake/listed-budget.ts";
import { serveBytes, serveRaw } from "../../../fake/raw-node.ts";

const mebibyte = 1024 * 1024;

function clientOf(context: TestContext, origin: string, timeoutMs = 5_000): NodeClient {
  const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs }, null);
  context.after(() => client.close());
  return client;
}

function kindOf(reply: NodeReply): string {
  return "failure" in reply ? reply.failure.kind : `${reply.status} ${reply.body.length}`;
}

test("joins a response that arrives in several pieces", async (context) => {
  const { origin } = await serveRaw(context, (socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.0 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n{");
      setImmediate(() => socket.write('"state":'));
      setTimeout(() => socket.end('"running"}'), 20);
    });
  });
  const reply = await clientOf(context, origin).get("/leader");
  assert.ok("status" in reply);
  assert.equal(reply.status, 503);
  assert.equal(reply.body.toString(), '{"state":"running"}');
});

test("reuses a connection that the node keeps alive, and replaces one that it closes", async (context) => {
  for (const keeps of [true, false]) {
    let connections = 0;
    const server = createServer((_request, response) => {
      response.shouldKeepAlive = keeps;
      response.end("{}");
    });
    server.on("connection", () => (connections += 1));
    const port = await listenDuringTest(context, server);
    const client = clientOf(context, `http://127.0.0.1:${port}`);
    for (let time = 0; time < 4; time += 1) assert.equal(kindOf(await client.get("/leader")), "200 2");
    assert.equal(connections, keeps ? 1 : 4);
  }
});

test("accepts a bare status line", async (context) => {
  const { origin } = await serveBytes(context, "HTTP/1.0 200 OK\r\n\r\n");
  assert.equal(kindOf(await clientOf(context, origin).get("/liveness")), "200 0");
});

test("returns a redirect and does not follow it", async (context) => {
  let connections = 0;
  const { origin } = await serveRaw(context, (socket) => {
    connections += 1;
    socket.once(
      "data",
      () => void socket.end("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"),
    );
  });
  assert.equal(kindOf(await clientOf(context, origin).get("/leader")), "302 0");
  assert.equal(connections, 1);
});

test("the timeout includes the wait for the response head", async (context) => {
  const { origin } = await serveRaw(context, () => {});
  assert.equal(kindOf(await clientOf(context, origin, 80).get("/leader")), "timeout");
});

test("the timeout includes the body, however steadily it trickles in", async (context) => {
  let cut = (): void => {};
  const wasInterrupted = new Promise<void>((resolve) => (cut = resolve));
  const { origin } = await serveRaw(context, (socket) => {
    socket.write("HTTP/1.0 200 OK\r\n\r\n");
    const drip = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => {
      cut();
      clearInterval(drip);
    });
  });
  assert.equal(kindOf(await clientOf(context, origin, 100).get("/leader")), "timeout");
  await wasInterrupted;
});

test("the timeout includes endless interim responses", async (context) => {
  const { origin } = await serveRaw(context, (socket) => {
    const drip = setInterval(() => socket.write("HTTP/1.1 100 Continue\r\n\r\n"), 5);
    socket.on("close", () => clearInterval(drip));
  });
  assert.notEqual(kindOf(await clientOf(context, origin, 100).get("/leader")).slice(0, 3), "200");
});

test("uses a new connection for the request after a timeout", async (context) => {
  let connections = 0;
  const { origin } = await serveRaw(context, (socket) => {
    connections += 1;
    if (connections > 1) socket.once("data", () => void socket.end("HTTP/1.0 200 OK\r\n\r\n{}"));
  });
  const client = clientOf(context, origin, 200);
  assert.equal(kindOf(await client.get("/leader")), "timeout");
  assert.equal(kindOf(await client.get("/leader")), "200 2");
});

test("reads a body of 256 kB, or of the length that the caller allows, and rejects one byte more", async (context) => {
  for (const [length, bodyMax, expected] of [
    [256 * 1024, undefined, `200 ${256 * 1024}`],
    [256 * 1024 + 1, undefined, "too_large"],
    [mebibyte, mebibyte, `200 ${mebibyte}`],
    [mebibyte + 1, mebibyte, "too_large"],
  ] as const) {
    const { origin } = await serveBytes(
      context,
      Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\n\r\n"), Buffer.alloc(length, "x")]),
    );
    assert.equal(kindOf(await clientOf(context, origin).get("/leader", bodyMax)), expected);
  }
});

/** Chunks of one byte with a chunk extension, and how the request for them ends. */
const floods: readonly (readonly [string, string, string])[] = [
  ["a body in chunks of one byte", "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"],
  ["endless chunk extensions", "Transfer-Encoding: chunked\r\n\r\n1;x=", "y".repeat(1_000)],
  ["endless interim responses", "Content-Length: 0\r\n\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"],
  ["endless trailers", "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n"],
];
for (const [what, head, repeated] of floods)
  test(`refuses ${what} before the timeout`, async (context) => {
    let sent = 0;
    const { origin } = await serveRaw(context, (socket) => {
      const piece = Buffer.from(repeated.repeat(Math.ceil(16_384 / repeated.length)));
      socket.once("data", () => {
        const status = what.includes("interim") ? "103 Early Hints" : "200 OK";
        socket.write(`HTTP/1.1 ${status}\r\n${head}`);
        const pour = (): void => {
          while (!socket.destroyed && socket.write(piece)) sent += piece.length;
        };
        socket.on("drain", pour);
        pour();
      });
    });
    assert.equal(kindOf(await clientOf(context, origin, 60_000).get("/leader")), "too_large");
    assert.ok(sent < 16 * mebibyte, `${sent} bytes were sent`);
  });

test("what is no body is refused by what there is of the body, not by how long it may be", async (context) => {
  let sent = 0;
  const { origin } = await serveRaw(context, (socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=");
      const pour = (): void => {
        while (!socket.destroyed && sent < 64 * mebibyte && socket.write("y".repeat(16_384))) sent += 16_384;
      };
      socket.on("drain", pour);
      pour();
    });
  });
  const sink = { bodyMax: 32 * mebibyte, onData: () => {} };
  const reply = await clientOf(context, origin, 60_000).getStreamed("/metrics", sink);
  assert.match("failure" in reply ? reply.failure.detail : "", /bytes that are no body/);
  assert.ok(sent < 16 * mebibyte, `${sent} bytes were sent`);
});

test("what is no body is charged as the body is", async (context) => {
  const bytes = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=${"y".repeat(30_000)}\r\n{}\r\n`;
  const { origin } = await serveRaw(context, (socket) => {
    socket.on("data", () => {
      socket.write(bytes);
      // What has come is counted when something follows.
      setTimeout(() => socket.write("0\r\n"), 20);
      setTimeout(() => socket.end("\r\n"), 40);
    });
  });
  const budget = new ByteBudget({ perSecond: 1, burst: 30_000, held: 50_000 }, () => 0);
  for (const expected of ["200 2", "too_large"]) {
    const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000, budget }, null);
    context.after(() => client.close());
    assert.equal(kindOf(await client.get("/leader")), expected);
  }
});

test("a request may be answered after fifteen interim responses, not after more", async (context) => {
  for (const [interim, expected] of [
    [15, "200 2"],
    [16, "too_large"],
  ] as const) {
    const early = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(interim);
    const { origin } = await serveBytes(context, `${early}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`);
    assert.equal(kindOf(await clientOf(context, origin).get("/leader")), expected);
  }
});

test("an honest body in chunks is read whole: their heads are few of its bytes", async (context) => {
  const length = 4_000;
  const chunk = `${(512).toString(16)}\r\n${"x".repeat(512)}\r\n`;
  const { origin } = await serveBytes(
    context,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(length)}0\r\n\r\n`,
  );
  const budget = new ByteBudget({ perSecond: 1, burst: 2 * mebibyte, held: 4 * mebibyte }, () => 0);
  const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000, budget }, null);
  context.after(() => client.close());
  assert.equal(kindOf(await client.get("/metrics", 4 * mebibyte)), `200 ${512 * length}`);
});

test("a body in many pieces is joined, and takes one buffer", async (context) => {
  const { origin } = await serveRaw(context, (socket) => {
    socket.once("data", () => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.end(
        `${Array.from({ length: 2_000 }, (_, at) => `4\r\n${String(at).padStart(4, "0")}\r\n`).join("")}0\r\n\r\n`,
      );
    });
  });
  const reply = await clientOf(context, origin).get("/leader");
  assert.ok("status" in reply);
  assert.equal(reply.body.toString(), Array.from({ length: 2_000 }, (_, at) => String(at).padStart(4, "0")).join(""));
});

test("a compressed body is not decompressed", async (context) => {
  const { origin } = await serveBytes(
    context,
    Buffer.concat([
      Buffer.from("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n"),
      gzipSync(Buffer.alloc(16 * mebibyte)),
    ]),
  );
  const reply = await clientOf(context, origin).get("/leader");
  assert.ok("status" in reply && reply.body.length < mebibyte);
});

test("the bodies of one cluster are limited together, those of real nodes are not", async (context) => {
  const [big, small] = [40_000, 2_000].map((length) => `HTTP/1.0 200 OK\r\n\r\n${"x".repeat(length)}`);
  const [large, real] = [await serveBytes(context, big ?? ""), await serveBytes(context, small ?? "")];
  const budget = new ByteBudget({ perSecond: 1_000, burst: 200_000, held: 50_000 }, () => 0);
  const clients = [large, large, real].map(
    ({ origin }) => new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000, budget }, null),
  );
  context.after(() => clients.forEach((client) => client.close()));
  const round = async (): Promise<readonly string[]> => {
    const kinds: string[] = [];
    for (const client of clients) kinds.push(kindOf(await client.get("/leader")));
    return kinds;
  };
  // The second one would exceed what is held. A refused answer releases what it held.
  assert.deepEqual(await round(), ["200 40000", "too_large", "200 2000"]);
  clients[0]?.close();
  assert.equal(kindOf((await clients[1]?.get("/leader")) ?? { failure: { kind: "body", detail: "" } }), "200 40000");
  for (let time = 0; time < 6; time += 1) await clients[1]?.get("/leader");
  assert.deepEqual((await round()).slice(1), ["too_large", "200 2000"], "too many bytes in a second");
});

test("what the last body has reserved is released with the next reply, or when the client is closed", async (context) => {
  const budget = new ListedBudget();
  const answers: readonly (readonly [length: number, announced: number, held: number])[] = [
    [9_192, 9_192, 1_000],
    [10_192, 10_192, 2_000],
    [2, 2, 0],
    [8_193, 8_193, 1],
    // A body that ends early, or is too long, fails and is not kept.
    [9_192, 9_193, 0],
    [300_000, 300_001, 0],
    [8_194, 8_194, 2],
  ];
  let request = -1;
  const { origin } = await serveRaw(context, (socket) => {
    socket.on("data", () => {
      const [length, announced] = answers[(request += 1)] ?? [0, 0];
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${announced}\r\n\r\n${"x".repeat(length)}`);
    });
  });
  const client = new NodeClient(origin, { connectTimeoutMs: 1_000, timeoutMs: 5_000, budget }, null);
  for (const [length, announced, held] of answers) {
    assert.equal("status" in (await client.get("/leader")), length === announced);
    assert.equal(budget.held, held);
  }
  for (let time = 0; time < 2; time += 1) {
    client.close();
    assert.equal(budget.held, 0);
  }
});

test("aborts an endless body early", async (context) => {
  let sent = 0;
  const { origin } = await serveRaw(context, (socket) => {
    const piece = Buffer.alloc(65_536, "x");
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
    const pour = (): void => {
      while (!socket.destroyed && socket.write(piece)) sent += piece.length;
    };
    socket.on("drain", pour);
    pour();
  });
  assert.equal(kindOf(await clientOf(context, origin).get("/leader")), "too_large");
  assert.ok(sent < 64 * mebibyte, `${sent} bytes were read`);
});

test("classifies malformed responses and reset connections", async (context) => {
  const garbage = await serveBytes(context, "\u0000\u0001garbage\r\n\r\n");
  const truncated = await serveBytes(context, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{");
  const empty = await serveRaw(context, (socket) => void socket.end());
  const reset = await serveRaw(context, (socket) => void socket.once("data", () => void socket.resetAndDestroy()));
  const headers = await serveBytes(context, `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`);
  const chunked = await serveBytes(context, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n");
  const closed = await serveRaw(context, () => {});
  const kinds = [];
  for (const { origin } of [garbage, truncated, empty, reset, headers, chunked])
    kinds.push(kindOf(await clientOf(context, origin).get("/leader")));
  assert.deepEqual(kinds, ["body", "reset", "reset", "reset", "too_large", "body"]);
  const client = clientOf(context, closed.origin);
  client.close();
  assert.equal(kindOf(await client.get("/leader")), "body", "a closed client sends nothing");
});

test("reports a closed port as refused", async (context) => {
  assert.equal(kindOf(await clientOf(context, `http://127.0.0.1:${await freePort()}`).get("/leader")), "refused");
});

test("of requests that wait for one another each may bring only so many bytes that are no body", async (context) => {
  let requests = 0;
  const { origin } = await serveRaw(context, (socket) => {
    socket.on("data", () => {
      requests += 1;
      if (requests === 1) return void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=");
      const pour = (): void => {
        while (!socket.destroyed && socket.write("y".repeat(16_384)));
      };
      socket.on("drain", pour);
      pour();
    });
  });
  const client = clientOf(context, origin, 60_000);
  const replies = await Promise.all([client.get("/leader"), client.get("/leader")]);
  assert.deepEqual(replies.map(kindOf), ["200 2", "too_large"]);
});

test("close fails the request in flight", async (context) => {
  const { origin } = await serveRaw(context, () => {});
  const client = clientOf(context, origin);
  const reply = client.get("/leader");
  client.close();
  assert.equal("failure" in (await reply), true);
});
