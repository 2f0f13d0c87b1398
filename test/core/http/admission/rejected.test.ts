import assert from "node:assert/strict";
import { connect } from "node:net";
import { suite, test } from "node:test";
import { text } from "node:stream/consumers";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { binaryPreamble } from "../../../fake/proxy-preambles.ts";
import { check, openEdge, send } from "./edge-fixture.ts";

/** What balancers and probes send, and the reason by which they learn what to change. */
const rows: readonly (readonly [given: string, bytes: string, status: number, reason: string])[] = [
  ["a PROXY preamble, version 1", `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${check}`, 400, "proxy_protocol"],
  ["a PROXY preamble, version 2", `${binaryPreamble(0, 0).toString("latin1")}${check}`, 400, "proxy_protocol"],
  ["a TLS handshake", "\x16\x03\x01\x00\xc0\x01\x00\x00\xbc\x03\x03", 400, "tls_on_plain_port"],
  ["HTTP/2, as gRPC probes send", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", 505, "http2"],
  ["a path without a slash", "GET primary HTTP/1.0\r\n\r\n", 400, "path_without_slash"],
  ["another version", "GET /primary HTTP/3.0\r\n\r\n", 505, "http_version"],
  ["a client of PostgreSQL", "\0\0\0\x08\x04\xd2\x16/", 400, "postgresql"],
  ["no HTTP", "HELO a\r\n", 400, "not_http"],
  ["a header without a colon", "GET /nodes/pg1/primary HTTP/1.1\r\nHost\r\n\r\n", 400, "malformed"],
  ["a body behind line feeds", "GET /nodes/pg1/primary HTTP/1.1\nContent-Length: 2\n\nab", 400, "line_feeds"],
  ["too large a head", `GET / HTTP/1.1\r\nX: ${"a".repeat(20_000)}\r\n\r\n`, 431, "head_too_large"],
  ["CONNECT", "CONNECT pg1:5432 HTTP/1.1\r\n\r\n", 405, "connect"],
  [
    "broken chunks",
    "POST /nodes/pg1/restart HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    403,
    "management_off",
  ],
  [
    "two Hosts",
    "GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n",
    400,
    "bad_request",
  ],
];

suite("what no handler can read", () => {
  for (const [given, bytes, status, reason] of rows)
    test(`${given}: is answered ${status} ${reason} with what to change, and reported once`, async (context) => {
      const edge = await openEdge(context);
      const answer = await send(edge.port, bytes);
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} ${reason}`), answer);
      const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as { error: string; message: string };
      assert.equal(body.error, reason);
      assert.match(body.message, /^Cannot /);
      if (reason === "management_off") return; // the handler's own answer, which needs no body
      const [{ address }, ...others] = [...edge.rejected, { address: "none" }];
      assert.deepEqual([address, others.length], ["127.0.0.1", 1]);
      assert.deepEqual([edge.rejected[0]?.status, edge.rejected[0]?.reason], [status, reason]);
      assert.match(await send(edge.port, check), /^HTTP\/1\.1 200 /, "and the next one is answered");
    });

  test("connecting and closing, or connecting and saying nothing, is no error", async (context) => {
    const edge = await openEdge(context, { limits: { ...unrestrictedAccess.limits, headerTimeoutMs: 200 } });
    for (const end of ["end", "destroy", "resetAndDestroy"] as const) {
      const socket = connect(edge.port, "127.0.0.1");
      socket.on("error", () => {}).resume();
      await new Promise((resolve) => socket.once("connect", resolve));
      socket[end]();
      await new Promise((resolve) => (socket.closed ? resolve(null) : socket.once("close", resolve)));
    }
    assert.match(await send(edge.port), /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.deepEqual(edge.rejected, []);
  });

  test("a part of a head that is never completed, and one that ends early", async (context) => {
    const edge = await openEdge(context, { limits: { ...unrestrictedAccess.limits, headerTimeoutMs: 200 } });
    for (const part of ["GET /nodes/pg1/primary\r", "PROXY TCP4 10", "GET /nodes/pg1/primary HTTP/1.0\n"])
      assert.match(await send(edge.port, part), /^HTTP\/1\.1 408 slow_head\r\n/, part);
    assert.match(
      await send(edge.port, "GET /nodes/pg1/primary HTTP/1.1\r\nHost: a\r\n"),
      /^HTTP\/1\.1 408 slow_head\r\n/,
    );
    assert.deepEqual(new Set(edge.rejected.map(({ reason }) => reason)), new Set(["slow_head"]));
    const socket = connect(edge.port, "127.0.0.1", () => socket.end("GET /nodes/pg1/pri"));
    assert.match(await text(socket), /^HTTP\/1\.1 400 closed_early\r\n/);
  });

  test("heads of LF alone are answered as nodes answer them, and the connection ends", async (context) => {
    for (const parts of [{}, { allow: ["127.0.0.0/8"] }] as const) {
      const edge = await openEdge(context, parts);
      for (const pieces of [["GET /nodes/pg1/primary HTTP/1.0\n\n"], ["GET /nodes/pg1/pri", "mary HTTP/1.1\n", "\n"]]) {
        const answer = await send(edge.port, ...pieces);
        assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
        assert.match(answer, /\r\nConnection: close\r\n/);
      }
      const smuggled = await send(
        edge.port,
        "GET /nodes/pg1/primary HTTP/1.1\n\nGET /nodes/pg2/primary HTTP/1.1\r\n\r\n",
      );
      assert.equal(smuggled.match(/HTTP\/1\.1 /g)?.length, 1);
      assert.match(
        await send(edge.port, "GET /nodes/pg1/primary HTTP/1.2\r\nHost: x\r\n\r\n"),
        /^HTTP\/1\.1 200 OK\r\n/,
      );
      assert.deepEqual(edge.rejected, []);
    }
  });

  test("an absolute target decides on the node, and Host is ignored", async (context) => {
    const edge = await openEdge(context);
    const ask = (target: string, host: string): Promise<string> =>
      send(edge.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(
      await ask("http://pg2.demo.db.internal/primary", "pg1.demo.db.internal"),
      /^HTTP\/1\.1 503 [^]*\r\nX-Rolecall-Node: pg2\r\n/,
    );
    assert.match(
      await ask("http://PG1.demo.db.internal:8008/primary?lag=1MB", "pg2.demo.db.internal"),
      /^HTTP\/1\.1 200 [^]*\r\nX-Rolecall-Node: pg1\r\n/,
    );
    assert.match(await ask("http://any/nodes/pg1/primary", "pg2.demo.db.internal"), /^HTTP\/1\.1 200 /);
    for (const target of ["ftp://a/primary", "http:///primary", "http://u@pg1.demo.db.internal/primary", "*"])
      assert.match(await ask(target, "pg1.demo.db.internal"), /^HTTP\/1\.1 400 /, target);
  });

  test("answers to requests before it come first", async (context) => {
    const edge = await openEdge(context, { allow: ["127.0.0.0/8"] });
    const kept = "GET /nodes/pg1/primary HTTP/1.1\r\n\r\n";
    const answer = await send(edge.port, `${kept}${kept}\0\0`);
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+ \w+/g), [
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK",
      "HTTP/1.1 400 malformed",
    ]);
    const last = "GET /nodes/pg1/primary HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert.deepEqual((await send(edge.port, `${last}\0\0`)).match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200"]);
    assert.equal(edge.rejected.length, 1);
  });
});
