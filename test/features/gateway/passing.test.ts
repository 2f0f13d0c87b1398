import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hashOf } from "../../../src/cli/commands/hash-password.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";
import type { FakeNodeOptions } from "../../fake/fake-node.ts";
import { withFaultyGateway } from "../../fake/faulty-gateway-fixture.ts";

test("a node gets the call as it was made, and who made it; the client the node's answer as it is", async () => {
  const behave: FakeNodeOptions["respond"] = (_, response) => {
    response
      .writeHead(202, "Fine", { "content-type": "text/html", "x-node": "yes", server: "BaseHTTP/0.6 Python/3.11" })
      .end("reload scheduled");
  };
  await withFaultyGateway({ respond: behave }, async (gateway, { pg2 }) => {
    const headers = {
      "x-forwarded-for": "192.0.2.7",
      "x-request-id": "call-1",
      authorization: "Basic bm9kZTpzZWNyZXQ=",
      connection: "x-hop",
      "x-hop": "1",
      "x-rolecall-node": "pg2",
      te: "trailers",
      cookie: "session=secret",
      cookie2: "$Version=1",
    };
    const answer = await gateway.request("/reload", { method: "POST", headers, body: "{}" });
    assert.equal(answer.status, 202);
    assert.equal(answer.body, "reload scheduled");
    assert.equal(answer.headers["content-type"], "text/plain; charset=utf-8");
    assert.equal(answer.headers["x-node"], "yes");
    assert.equal(answer.headers["server"], undefined);
    assert.equal(answer.headers["x-request-id"], "call-1");
    const [received] = pg2.received;
    assert.equal(received?.method, "POST");
    assert.equal(received?.path, "/reload");
    assert.equal(received?.body, "{}");
    assert.equal(received?.headers["host"], `127.0.0.1:${pg2.port}`);
    assert.equal(received?.headers["x-forwarded-for"], "192.0.2.7, 127.0.0.1");
    assert.equal(received?.headers["x-request-id"], "call-1");
    assert.equal(received?.headers["authorization"], headers.authorization);
    for (const name of ["x-hop", "te", "x-rolecall-node", "cookie", "cookie2"])
      assert.equal(received?.headers[name], undefined, name);
  });
});

test("a request id that could not stand in a log is replaced", async () => {
  await withFaultyGateway({}, async (gateway, { pg2 }) => {
    const answer = await gateway.request("/nodes/pg2/reload", {
      method: "POST",
      headers: { "x-request-id": 'a "b" {c}' },
    });
    assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/);
    assert.equal(pg2.received[0]?.headers["x-request-id"], answer.headers["x-request-id"]);
  });
});

test("a chunked body reaches the node whole and with its length", async () => {
  await withFaultyGateway({}, async (gateway, { pg1 }) => {
    const clientRequest = httpRequest(`${gateway.url}/config`, {
      method: "PATCH",
      headers: { "transfer-encoding": "chunked" },
    });
    const answered = once(clientRequest, "response");
    clientRequest.write('{"loop_wait"');
    clientRequest.end(": 5}");
    await answered;
    assert.equal(pg1.received[0]?.body, '{"loop_wait": 5}');
    assert.equal(pg1.received[0]?.headers["content-length"], "16");
    assert.equal(pg1.received[0]?.headers["transfer-encoding"], undefined);
  });
});

test("from-leader, as the documentation spells it, reaches the node as from_leader", async () => {
  await withFaultyGateway({}, async (gateway, { pg2 }) => {
    await gateway.request("/nodes/pg2/reinitialize", { method: "POST", body: { force: true, "from-leader": true } });
    await gateway.request("/nodes/pg2/reinitialize", { method: "POST", body: { from_leader: true } });
    assert.deepEqual(
      pg2.received.map(({ body }) => JSON.parse(body) as unknown),
      [{ from_leader: true, force: true }, { from_leader: true }],
    );
  });
});

test("a listener without the option answers 403 and says how to switch it on; nothing reaches a node", async () => {
  await withFaultyGateway({ access: { management: false } }, async (gateway, { pg1, pg2 }) => {
    for (const path of ["/switchover", "/nodes/pg2/restart", "/failover"]) {
      const answer = await gateway.request(path, { method: "POST", body: { leader: "pg1" } });
      assert.equal(answer.status, 403);
      assert.match(answer.body, /management: on/);
    }
    assert.equal((await gateway.request("/nodes/pg2/metrics")).status, 403);
    assert.equal((await gateway.request("/clusters/demo/config")).status, 200);
    assert.equal(pg1.received.length + pg2.received.length, 0);
  });
});

test("writes one log line and one metric for each call, without secrets", async () => {
  const access = {
    auth: {
      for: "unsafe" as const,
      basic: [{ user: "ann", scrypt: hashOf("hunter2") }],
      bearer: [],
      certificate: false,
    },
  };
  await withFaultyGateway({ access }, async (gateway) => {
    const authorization = `Basic ${Buffer.from("ann:hunter2").toString("base64")}`;
    await gateway.request("/nodes/pg2/restart", {
      method: "POST",
      headers: { authorization, "x-request-id": "r-1" },
      body: { timeout: 1 },
    });
    await gateway.request("/switchover", { method: "POST", headers: { authorization }, body: { leader: "pg2" } });
    const lines = await until("two audit lines", () => {
      const found = gateway.logRecords.filter(({ msg }) => msg === "management call");
      return found.length === 2 ? found : undefined;
    });
    const [restart, switchover] = lines;
    const shown = ["who", "from", "call", "cluster", "node", "status", "outcome", "problem"] as const;
    assert.deepEqual(
      shown.map((key) => restart?.[key]),
      ["ann", "127.0.0.1", "POST /restart", "demo", "pg2", 200, "passed", null],
    );
    assert.equal(restart?.["request_id"], "r-1");
    assert.equal(typeof restart?.["duration_ms"], "number");
    assert.deepEqual(
      shown.map((key) => switchover?.[key]),
      ["ann", "127.0.0.1", "POST /switchover", "demo", "pg1", 412, "refused", "leader_mismatch"],
    );
    const { body } = await sendRequest(`${gateway.adminUrl}/metrics`);
    assert.match(
      body,
      /rolecall_management_call_duration_seconds_count\{cluster="demo",call="restart",method="POST",status="200"\} 1/,
    );
    assert.match(
      body,
      /rolecall_management_call_duration_seconds_count\{cluster="demo",call="switchover",method="POST",status="412"\} 1/,
    );
    assert.doesNotMatch(JSON.stringify(gateway.logRecords) + body, /hunter2|YW5uOmh1bnRlcjI/);
  });
});

test("sends the nodes' password instead of the client's with calls that change state, and reads it again when it changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-gateway-"));
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, "first\n");
  try {
    await withFaultyGateway({ cluster: { auth: { user: "admin", passwordFile } } }, async (gateway, { pg2 }) => {
      const receivedAuth = async () => {
        await gateway.request("/nodes/pg2/reload", {
          method: "POST",
          headers: { authorization: "Basic Y2xpZW50OnNlY3JldA==" },
        });
        return Buffer.from(
          String(pg2.received.at(-1)?.headers["authorization"]).replace("Basic ", ""),
          "base64",
        ).toString();
      };
      assert.equal(await receivedAuth(), "admin:first");
      writeFileSync(passwordFile, "second\n");
      assert.equal(
        await until("the new password", async () =>
          (await receivedAuth()) === "admin:first" ? undefined : receivedAuth(),
        ),
        "admin:second",
      );
      assert.equal((await gateway.request("/nodes/pg2/metrics")).status, 200);
      assert.equal(pg2.received.at(-1)?.headers["authorization"], undefined);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
