import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { hashOf } from "../../src/cli/hash-password.ts";
import { openDoor } from "../../src/config/door-config.ts";
import { ask, until } from "../fake/ask.ts";
import { nodeOf } from "../fake/config.ts";
import { serveOddNode, type OddNode, type OddNodeOptions } from "../fake/odd-node.ts";
import { buildTownOf, type Town, type TownOptions } from "../fake/town.ts";

type OddTown = Omit<Town, "simulator">;

/** A leader pg1 and a replica pg2 that take management calls as told. */
async function withTown(
  { behave, ...options }: Omit<TownOptions, "simulator"> & Pick<OddNodeOptions, "behave">,
  play: (town: OddTown, nodes: { readonly pg1: OddNode; readonly pg2: OddNode }) => Promise<void>,
): Promise<void> {
  const shared = behave === undefined ? {} : { behave };
  const pg1 = await serveOddNode({ name: "pg1", holdsLock: true, ...shared });
  const pg2 = await serveOddNode({ name: "pg2", holdsLock: false, ...shared });
  const town = await buildTownOf(
    [pg1, pg2].map(({ name, api }) => nodeOf({ name, api })),
    options,
  );
  try {
    await play(town, { pg1, pg2 });
  } finally {
    await town.close();
    await Promise.all([pg1.close(), pg2.close()]);
  }
}

test("a node gets the call as it was made, and who made it; the client the node's answer as it is", async () => {
  const behave: OddNodeOptions["behave"] = (_, response) => {
    response
      .writeHead(202, "Fine", { "content-type": "text/html", "x-node": "yes", server: "BaseHTTP/0.6 Python/3.11" })
      .end("reload scheduled");
  };
  await withTown({ behave }, async (town, { pg2 }) => {
    const headers = {
      "x-forwarded-for": "192.0.2.7",
      "x-request-id": "call-1",
      authorization: "Basic bm9kZTpzZWNyZXQ=",
      connection: "x-hop",
      "x-hop": "1",
      "x-rolecall-node": "pg2",
      te: "trailers",
    };
    const answer = await town.ask("/reload", { method: "POST", headers, body: "{}" });
    assert.equal(answer.status, 202);
    assert.equal(answer.body, "reload scheduled");
    assert.equal(answer.headers["content-type"], "text/html");
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
    for (const name of ["x-hop", "te", "x-rolecall-node"]) assert.equal(received?.headers[name], undefined, name);
  });
});

test("a request id that could not stand in a log is replaced", async () => {
  await withTown({}, async (town, { pg2 }) => {
    const answer = await town.ask("/nodes/pg2/reload", { method: "POST", headers: { "x-request-id": 'a "b" {c}' } });
    assert.match(String(answer.headers["x-request-id"]), /^[0-9a-f-]{36}$/);
    assert.equal(pg2.received[0]?.headers["x-request-id"], answer.headers["x-request-id"]);
  });
});

test("a chunked body reaches the node whole and with its length", async () => {
  await withTown({}, async (town, { pg1 }) => {
    const asking = httpRequest(`${town.url}/config`, { method: "PATCH", headers: { "transfer-encoding": "chunked" } });
    const answered = once(asking, "response");
    asking.write('{"loop_wait"');
    asking.end(": 5}");
    await answered;
    assert.equal(pg1.received[0]?.body, '{"loop_wait": 5}');
    assert.equal(pg1.received[0]?.headers["content-length"], "16");
    assert.equal(pg1.received[0]?.headers["transfer-encoding"], undefined);
  });
});

test("from-leader, as the documentation spells it, reaches the node as from_leader", async () => {
  await withTown({}, async (town, { pg2 }) => {
    await town.ask("/nodes/pg2/reinitialize", { method: "POST", body: { force: true, "from-leader": true } });
    await town.ask("/nodes/pg2/reinitialize", { method: "POST", body: { from_leader: true } });
    assert.deepEqual(
      pg2.received.map(({ body }) => JSON.parse(body) as unknown),
      [{ from_leader: true, force: true }, { from_leader: true }],
    );
  });
});

test("a call that takes longer than requests may take to come in is not cut", async () => {
  const behave: OddNodeOptions["behave"] = (_, response) => void setTimeout(() => response.end("Successfully switched over"), 900);
  const limits = { ...openDoor.limits, headerTimeoutMs: 200, requestTimeoutMs: 300, idleTimeoutMs: 200 };
  await withTown({ behave, door: { limits } }, async (town) => {
    const answer = await town.ask("/switchover", { method: "POST", body: { leader: "pg1" } });
    assert.equal(answer.body, "Successfully switched over");
  });
});

test("a client that goes away takes the node's request with it, and the audit says so", async () => {
  let gone: (() => void) | undefined;
  const seen = new Promise<void>((resolve) => (gone = resolve));
  let arrived: (() => void) | undefined;
  const began = new Promise<void>((resolve) => (arrived = resolve));
  const behave: OddNodeOptions["behave"] = (_, response) => {
    arrived?.();
    response.on("close", () => gone?.());
  };
  await withTown({ behave }, async (town) => {
    const asking = httpRequest(`${town.url}/nodes/pg2/restart`, { method: "POST" });
    asking.on("error", () => {}); // it is we who break it off
    asking.end();
    await began;
    asking.destroy();
    await seen;
    const line = await until("an audit line", () => town.log.find(({ msg }) => msg === "management call"));
    assert.equal(line["problem"], "the client went away");
  });
});

test("a call that fails is not tried again, and the answer says whether it may have been done", async () => {
  await withTown({ behave: (_, __, request) => request.socket.destroy() }, async (town, { pg2 }) => {
    const answer = await town.ask("/nodes/pg2/restart", { method: "POST" });
    assert.equal(answer.status, 502);
    assert.match(answer.body, /whether it did the call is not known/);
    assert.equal(pg2.received.length, 1);
    await pg2.close();
    const refused = await town.ask("/nodes/pg2/restart", { method: "POST" });
    assert.equal(refused.status, 502);
    assert.match(refused.body, /ECONNREFUSED.*the call was not done/);
  });
});

test("an answer that breaks off reaches the client as broken, not as whole", async () => {
  const behave: OddNodeOptions["behave"] = (_, response, request) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half");
    setTimeout(() => request.socket.destroy(), 20);
  };
  await withTown({ behave }, async (town) => {
    await assert.rejects(town.ask("/nodes/pg2/restart", { method: "POST" }));
    const line = await until("an audit line", () => town.log.find(({ msg }) => msg === "management call"));
    assert.equal(line["problem"], "the node's answer broke off");
  });
});

test("a node that never answers is given up at the deadline", async () => {
  const limits = { ...openDoor.limits, callTimeoutMs: 150 };
  await withTown({ behave: () => {}, door: { limits } }, async (town) => {
    const answer = await town.ask("/nodes/pg2/restart", { method: "POST" });
    assert.equal(answer.status, 504);
    assert.equal(answer.headers["x-rolecall-reason"], "timeout");
  });
});

test("a body past the limit is 413, announced or not, and the node never hears of it", async () => {
  const limits = { ...openDoor.limits, bodyMax: 100 };
  await withTown({ door: { limits } }, async (town, { pg1 }) => {
    const announced = await town.ask("/config", { method: "PATCH", body: { a: "x".repeat(200) } });
    assert.equal(announced.status, 413);
    const asking = httpRequest(`${town.url}/config`, { method: "PATCH", headers: { "transfer-encoding": "chunked" } });
    asking.on("error", () => {}); // the connection is closed on the rest
    const [chunked] = (await Promise.all([once(asking, "response"), asking.write("x".repeat(200))]))[0];
    assert.equal(chunked.statusCode, 413);
    asking.destroy();
    assert.equal(pg1.received.length, 0);
  });
});

test("a call whose body must have a length is 411 without one", async () => {
  await withTown({}, async (town) => {
    const socket = connect(Number(new URL(town.url).port), "127.0.0.1");
    socket.end("PATCH /config HTTP/1.1\r\nHost: a\r\n\r\n");
    assert.match(await text(socket), /^HTTP\/1\.1 411 /);
  });
});

test("more calls at a time than allowed are 429, for one cluster and only while they last", async () => {
  const held: (() => void)[] = [];
  const behave: OddNodeOptions["behave"] = (_, response) => void held.push(() => response.end("done"));
  const limits = { ...openDoor.limits, callsInFlight: 2 };
  await withTown({ behave, door: { limits } }, async (town) => {
    const restart = () => town.ask("/nodes/pg2/restart", { method: "POST" });
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

test("a listener without the option answers 403 and says how to switch it on; nothing reaches a node", async () => {
  await withTown({ door: { management: false } }, async (town, { pg1, pg2 }) => {
    for (const path of ["/switchover", "/nodes/pg2/restart", "/failover"]) {
      const answer = await town.ask(path, { method: "POST", body: { leader: "pg1" } });
      assert.equal(answer.status, 403);
      assert.match(answer.body, /management: on/);
    }
    assert.equal((await town.ask("/nodes/pg2/metrics")).status, 403);
    assert.equal((await town.ask("/clusters/demo/config")).status, 200);
    assert.equal(pg1.received.length + pg2.received.length, 0);
  });
});

test("one line and one metric tell of each call, and no secret is in them", async () => {
  const door = { auth: { for: "unsafe" as const, basic: [{ user: "ann", scrypt: hashOf("hunter2") }], bearer: [], certificate: false } };
  await withTown({ door }, async (town) => {
    const authorization = `Basic ${Buffer.from("ann:hunter2").toString("base64")}`;
    await town.ask("/nodes/pg2/restart", { method: "POST", headers: { authorization, "x-request-id": "r-1" }, body: { timeout: 1 } });
    await town.ask("/switchover", { method: "POST", headers: { authorization }, body: { leader: "pg2" } });
    const lines = await until("two audit lines", () => {
      const found = town.log.filter(({ msg }) => msg === "management call");
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
    const { body } = await ask(`${town.admin}/metrics`);
    assert.match(body, /rolecall_management_call_duration_seconds_count\{cluster="demo",call="restart",method="POST",status="200"\} 1/);
    assert.match(body, /rolecall_management_call_duration_seconds_count\{cluster="demo",call="switchover",method="POST",status="412"\} 1/);
    assert.doesNotMatch(JSON.stringify(town.log) + body, /hunter2|YW5uOmh1bnRlcjI/);
  });
});

test("a password for the nodes is sent with calls that change something, in place of the client's, and read again when it changes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-gateway-"));
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, "first\n");
  try {
    await withTown({ cluster: { auth: { user: "admin", passwordFile } } }, async (town, { pg2 }) => {
      const said = async () => {
        await town.ask("/nodes/pg2/reload", { method: "POST", headers: { authorization: "Basic Y2xpZW50OnNlY3JldA==" } });
        return Buffer.from(String(pg2.received.at(-1)?.headers["authorization"]).replace("Basic ", ""), "base64").toString();
      };
      assert.equal(await said(), "admin:first");
      writeFileSync(passwordFile, "second\n");
      assert.equal(await until("the new password", async () => ((await said()) === "admin:first" ? undefined : said())), "admin:second");
      assert.equal((await town.ask("/nodes/pg2/metrics")).status, 200);
      assert.equal(pg2.received.at(-1)?.headers["authorization"], undefined);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
