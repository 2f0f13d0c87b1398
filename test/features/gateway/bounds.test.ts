import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { hashOf } from "../../../src/cli/commands/hash-password.ts";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { until } from "../../fake/until.ts";
import type { FakeNodeOptions } from "../../fake/fake-node.ts";
import { withFaultyGateway } from "../../fake/faulty-gateway-fixture.ts";

test("a call that takes longer than requests may take to come in is not cut", async () => {
  const behave: FakeNodeOptions["respond"] = (_, response) =>
    void setTimeout(() => response.end("Successfully switched over"), 900);
  const limits = { ...unrestrictedAccess.limits, headerTimeoutMs: 200, requestTimeoutMs: 300, idleTimeoutMs: 200 };
  await withFaultyGateway({ respond: behave, access: { limits } }, async (gateway) => {
    const answer = await gateway.request("/switchover", { method: "POST", body: { leader: "pg1" } });
    assert.equal(answer.body, "Successfully switched over");
  });
});

test("cancels the node's request when the client disconnects, and audits it", async () => {
  let gone: (() => void) | undefined;
  const seen = new Promise<void>((resolve) => (gone = resolve));
  let arrived: (() => void) | undefined;
  const began = new Promise<void>((resolve) => (arrived = resolve));
  const behave: FakeNodeOptions["respond"] = (_, response) => {
    arrived?.();
    response.on("close", () => gone?.());
  };
  await withFaultyGateway({ respond: behave }, async (gateway) => {
    const clientRequest = httpRequest(`${gateway.url}/nodes/pg2/restart`, { method: "POST" });
    clientRequest.on("error", () => {}); // the client itself aborts the request
    clientRequest.end();
    await began;
    clientRequest.destroy();
    await seen;
    const line = await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call"));
    assert.equal(line["problem"], "the client closed the connection");
  });
});

test("a call that fails is not tried again, and the answer says whether it may have been done", async () => {
  await withFaultyGateway({ respond: (_, __, request) => request.socket.destroy() }, async (gateway, { pg2 }) => {
    const answer = await gateway.request("/nodes/pg2/restart", { method: "POST" });
    assert.equal(answer.status, 502);
    assert.match(answer.body, /may have executed the call/);
    assert.equal(pg2.received.length, 1);
    await pg2.close();
    const refused = await gateway.request("/nodes/pg2/restart", { method: "POST" });
    assert.equal(refused.status, 502);
    assert.match(refused.body, /ECONNREFUSED.*the call was not executed/);
  });
});

test("an answer that breaks off reaches the client as broken, not as whole", async () => {
  const behave: FakeNodeOptions["respond"] = (_, response, request) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half");
    setTimeout(() => request.socket.destroy(), 20);
  };
  await withFaultyGateway({ respond: behave }, async (gateway) => {
    await assert.rejects(gateway.request("/nodes/pg2/restart", { method: "POST" }));
    const line = await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call"));
    assert.equal(line["problem"], "the upstream closed the connection before the end of its answer");
  });
});

test("an answer longer than allowed ends its connection, and nothing else", async () => {
  const behave: FakeNodeOptions["respond"] = (_, response) => void response.end(Buffer.alloc(40 * 1024 * 1024));
  await withFaultyGateway({ respond: behave }, async (gateway) => {
    const announced = await gateway.request("/nodes/pg2/restart", { method: "POST" });
    assert.equal(announced.status, 502);
  });
  const endless: FakeNodeOptions["respond"] = (_, response) => {
    const more = (): void => void response.write(Buffer.alloc(1024 * 1024), (error) => (error ? undefined : more()));
    more();
  };
  await withFaultyGateway({ respond: endless }, async (gateway) => {
    await assert.rejects(gateway.request("/nodes/pg2/restart", { method: "POST" }));
    const line = await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call"));
    assert.match(String(line["problem"]), /an answer of more than \d+ bytes/);
    assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
  });
});

test("counts no call of a client that disconnects while its password is checked", async () => {
  const limits = { ...unrestrictedAccess.limits, callsInFlight: 1 };
  const auth = {
    for: "unsafe" as const,
    basic: [{ user: "ann", scrypt: hashOf("hunter2") }],
    bearer: [],
    certificate: false,
  };
  await withFaultyGateway({ access: { limits, auth } }, async (gateway) => {
    const headers = { authorization: `Basic ${Buffer.from("ann:hunter2").toString("base64")}` };
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(`POST /nodes/pg2/restart HTTP/1.1\r\nHost: a\r\nAuthorization: ${headers.authorization}\r\n\r\n`, () =>
      socket.resetAndDestroy(),
    );
    // The same password: it is checked at the same time for both, or after the first.
    const second = await gateway.request("/nodes/pg2/restart", { method: "POST", headers });
    assert.equal(second.status, 200);
  });
});

test("answers 504 at the deadline if the node does not answer", async () => {
  const limits = { ...unrestrictedAccess.limits, callTimeoutMs: 150 };
  await withFaultyGateway({ respond: () => {}, access: { limits } }, async (gateway) => {
    const answer = await gateway.request("/nodes/pg2/restart", { method: "POST" });
    assert.equal(answer.status, 504);
    assert.equal(answer.headers["x-rolecall-reason"], "timeout");
  });
});

test("answers 413 to a body above the limit, with or without a length, and sends nothing to the node", async () => {
  const limits = { ...unrestrictedAccess.limits, bodyMax: 100 };
  await withFaultyGateway({ access: { limits } }, async (gateway, { pg1 }) => {
    const announced = await gateway.request("/config", { method: "PATCH", body: { a: "x".repeat(200) } });
    assert.equal(announced.status, 413);
    const request = httpRequest(`${gateway.url}/config`, {
      method: "PATCH",
      headers: { "transfer-encoding": "chunked" },
    });
    request.on("error", () => {}); // the listener closes the connection before the end of the body
    const response = once(request, "response");
    request.write("x".repeat(200));
    const [chunked] = await response;
    assert.equal(chunked.statusCode, 413);
    request.destroy();
    assert.equal(pg1.received.length, 0);
  });
});

test("a call whose body must have a length is 411 without one", async () => {
  await withFaultyGateway({}, async (gateway) => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    socket.end("PATCH /config HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.match(await text(socket), /^HTTP\/1\.1 411 /);
  });
});

test("answers 429 above the limit of concurrent calls of one cluster", async () => {
  const held: (() => void)[] = [];
  const behave: FakeNodeOptions["respond"] = (_, response) => void held.push(() => response.end("done"));
  const limits = { ...unrestrictedAccess.limits, callsInFlight: 2 };
  await withFaultyGateway({ respond: behave, access: { limits } }, async (gateway) => {
    const restart = () => gateway.request("/nodes/pg2/restart", { method: "POST" });
    const first = [restart(), restart()];
    await until("two calls at the node", () => (held.length === 2 ? true : undefined));
    const third = await restart();
    assert.equal(third.status, 429);
    assert.equal(third.headers["retry-after"], "1");
    for (const go of held.splice(0)) go();
    for (const answer of await Promise.all(first)) assert.equal(answer.status, 200);
    const fourth = restart();
    await until("the fourth at the node", () => held[0]);
    held[0]?.();
    assert.equal((await fourth).status, 200);
  });
});

test("bodies that come in slowly take no place of a call, and one address may send a few at a time", async () => {
  await withFaultyGateway({ respond: (_, response) => void response.end("restarted") }, async (gateway) => {
    const { hostname, port } = new URL(gateway.url);
    const slow = (): ReturnType<typeof connect> => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {}); // reset when the listener closes
      socket.write("POST /nodes/pg2/restart HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
      return socket;
    };
    const sockets = Array.from({ length: 7 }, slow);
    const answer = await gateway.request("/nodes/pg2/restart", { method: "POST" });
    assert.deepEqual([answer.status, answer.body], [200, "restarted"]);
    sockets.push(slow(), slow());
    const refused = await until("a refusal", async () => {
      const { status } = await gateway.request("/nodes/pg2/restart", { method: "POST" });
      return status === 429 ? status : undefined;
    });
    assert.equal(refused, 429);
    for (const socket of sockets) socket.destroy();
    await until("a free place", async () => {
      const { status } = await gateway.request("/nodes/pg2/restart", { method: "POST" });
      return status === 200 ? status : undefined;
    });
  });
});
