import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { type ListenerAccess, unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { PgbouncerConsole } from "../../../src/core/balancing/pgbouncer/console.ts";
import { appOf, limit, portFor } from "../../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { type HttpAnswer, sendRequest } from "../../fake/http-request.ts";
import { PausableConsole } from "../../fake/pausable-console.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { workerCounts } from "../../fake/worker-counts.ts";

const folder = temporaryFolder("pauses");
const fileOf = (token: string): string => {
  const file = join(folder, token);
  writeFileSync(file, `${token}\n`);
  return file;
};
const pauseFile = fileOf("pause-token");
const hintFile = fileOf("hint-token");
const adminAuth = { for: "all", basic: [], bearer: [fileOf("admin-token")], certificate: false } as const;

type Send = (method: string, path: string, token: string | null, body?: unknown) => Promise<HttpAnswer>;

/** A rolecall with a pooler and an admin listener that has these access rules. */
async function watching(
  context: TestContext,
  access: Partial<ListenerAccess>,
  parts: { readonly workers?: number; readonly cluster?: string } = {},
): Promise<{ readonly send: Send; readonly pgbouncer: PausableConsole }> {
  const pgbouncer = await new PausableConsole(["a"]).listen(context);
  const { cluster = null, workers = 0 } = parts;
  const admin = listenerOf({ dialect: "admin", cluster, access: { ...unrestrictedAccess, ...access } });
  const clusters = ["orders", "billing"].map((name, at) =>
    clusterOf({ name, nodes: [nodeOf({ name: "pg1", api: `http://127.0.0.1:${at + 1}` })] }),
  );
  const app = appOf(
    context,
    configOf({ clusters, listen: [admin], poolers: [pgbouncer.pooler("pgb1", ["a"])], workers }),
  );
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}`;
  const send: Send = (method, path, token, body = {}) =>
    sendRequest(`${url}${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: method === "GET" ? undefined : JSON.stringify(body),
    });
  return { send, pgbouncer };
}

suite("who may announce pauses", limit, () => {
  type Row = readonly [string, Partial<ListenerAccess>, readonly (readonly [string | null, number])[]];
  const rows: readonly Row[] = [
    ["nobody without pause_tokens and management", {}, [[null, 403]]],
    [
      "nobody with auth alone",
      { auth: adminAuth },
      [
        [null, 401],
        ["admin-token", 403],
        ["pause-token", 401],
      ],
    ],
    [
      "a credential of the listener with management: on",
      { auth: adminAuth, management: true },
      [
        [null, 401],
        ["admin-token", 404],
        ["pause-token", 401],
      ],
    ],
    [
      "a pause token, or another credential, with pause_tokens",
      { auth: adminAuth, pauseTokens: [pauseFile], hintTokens: [hintFile] },
      [
        [null, 401],
        ["pause-token", 404],
        ["admin-token", 404],
        ["hint-token", 401],
        ["guess", 401],
      ],
    ],
    [
      "a pause token where auth is for unsafe requests, or missing",
      { pauseTokens: [pauseFile] },
      [
        [null, 401],
        ["pause-token", 404],
      ],
    ],
    [
      "a pause token on a read-only listener",
      { readOnly: true, pauseTokens: [pauseFile] },
      [
        [null, 401],
        ["pause-token", 404],
      ],
    ],
    ["nobody on a read-only listener without pause_tokens", { readOnly: true, hintTokens: [hintFile] }, [[null, 403]]],
    ["nobody from elsewhere", { allow: ["10.0.0.0/8"], pauseTokens: [pauseFile] }, [["pause-token", 403]]],
  ];
  for (const [title, access, senders] of rows)
    test(title, async (context) => {
      const { send } = await watching(context, access);
      for (const [token, status] of senders)
        for (const path of ["/pauses/r1/heartbeat", "/pauses/r1"]) {
          const method = path.endsWith("heartbeat") ? "POST" : "DELETE";
          assert.equal((await send(method, path, token)).status, status, `${method} ${path} by ${token}`);
        }
    });
});

test("a pause token permits nothing but calls about pauses", limit, async (context) => {
  const { send } = await watching(context, { auth: adminAuth, pauseTokens: [pauseFile], hintTokens: [hintFile] });
  for (const [method, path, status] of [
    ["GET", "/pauses", 405],
    ["GET", "/pauses/r1", 405],
    ["POST", "/pauses/r1", 405],
    ["GET", "/metrics", 401],
    ["POST", "/hint?cluster=orders", 401],
    ["POST", "/drains/orders/pg1", 401],
    ["POST", "/drains/orders/pg1?x=/pauses", 401],
    ["POST", "/clusters/orders/switchover", 401],
    ["POST", "/clusters/orders/pauses", 401],
    ["POST", "//pauses", 401],
    ["POST", "/pauses/r1/heartbeat/more", 401],
    ["POST", "/pauses%2f..%2fdrains/orders/pg1", 401],
  ] as const)
    assert.equal((await send(method, path, "pause-token")).status, status, `${method} ${path}`);
});

for (const workers of workerCounts)
  test(`answers announcements, heartbeats and ends, with ${workers} workers`, { timeout: 60_000 }, async (context) => {
    const { send, pgbouncer } = await watching(context, { pauseTokens: [pauseFile] }, { workers });
    const call = async (method: string, path: string, body?: unknown): Promise<readonly [number, unknown]> => {
      const answer = await send(method, path, "pause-token", body);
      const { message = null, ...rest } = JSON.parse(answer.body);
      return [answer.status, message ?? rest];
    };
    const witness = await PgbouncerConsole.open(pgbouncer.target, 5_000);
    const poolers = [{ pooler: "pgb1", console: witness.name, databases: ["a"] }];
    const body = { run: "r1", cluster: "orders", deadline_ms: 15_000, poolers };
    assert.deepEqual(await call("POST", "/pauses", {}), [
      400,
      "Cannot read this body: run must be a text of 1 to 128 characters",
    ]);
    assert.deepEqual(await call("POST", "/pauses", { ...body, poolers: [{ ...poolers[0], console: "x" }] }), [
      503,
      "Cannot answer for these pauses: pooler pgb1: this peer reached another PgBouncer, or another process of it: " +
        "SHOW CLIENTS does not list the caller",
    ]);
    assert.deepEqual(await call("POST", "/pauses", { ...body, cluster: "billing" }), [
      409,
      "Cannot answer for these pauses: pooler pgb1 has no database a of billing in the configuration of this peer",
    ]);
    assert.deepEqual(await call("POST", "/pauses", body), [200, { acknowledged: true }]);
    assert.deepEqual(await call("POST", "/pauses", body), [
      409,
      "Cannot answer for these pauses: the run r1 is known already",
    ]);
    assert.deepEqual(await call("POST", "/pauses/r1/heartbeat", {}), [200, { state: "held" }]);
    assert.deepEqual(await call("POST", "/pauses/r1/heartbeat", { open: [] }), [200, { state: "held" }]);
    assert.equal((await call("POST", "/pauses/r1/heartbeat", { open: 1 }))[0], 400);
    const [status] = await call("POST", "/pauses", { filler: "x".repeat(2 * 1024 * 1024) });
    assert.equal(status, 413);
    assert.deepEqual(await call("DELETE", "/pauses/r1"), [200, { state: "ended" }]);
    assert.deepEqual(await call("POST", "/pauses/r1/heartbeat", {}), [
      404,
      "Cannot find this run: it must be announced and not ended",
    ]);
    witness.close();
  });

test("a listener of one cluster answers for no other", limit, async (context) => {
  const { send, pgbouncer } = await watching(context, { pauseTokens: [pauseFile] }, { cluster: "billing" });
  const witness = await PgbouncerConsole.open(pgbouncer.target, 5_000);
  const poolers = [{ pooler: "pgb1", console: witness.name, databases: ["a"] }];
  const answer = await send("POST", "/pauses", "pause-token", {
    run: "r1",
    cluster: "orders",
    deadline_ms: 15_000,
    poolers,
  });
  assert.equal(answer.status, 409);
  witness.close();
});
