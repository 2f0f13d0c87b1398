import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, suite, test, type TestContext } from "node:test";
import { pino } from "pino";
import { unrestrictedAccess, type ListenerAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { isHintCall } from "../../../../src/core/http/admin-api/hint-api.ts";
import { appOf, fixedCluster, limit, portFor } from "../../../app/app-fixture.ts";
import { configOf, listenerOf } from "../../../fake/config.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { sendRequest, type HttpAnswer, type RequestParts } from "../../../fake/http-request.ts";
import { until } from "../../../fake/until.ts";
import { workerCounts } from "../../../fake/worker-counts.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-hints-"));
after(() => rmSync(folder, { recursive: true }));
const hintFile = join(folder, "hints");
writeFileSync(hintFile, "hint-token\n");
const stopFile = join(folder, "stops");
writeFileSync(stopFile, "stop-token\n");
const adminFile = join(folder, "admins");
writeFileSync(adminFile, "admin-token\n");

const adminAuth = { for: "all", basic: [], bearer: [adminFile], certificate: false } as const;
const bearer = (token: string): RequestParts => ({ method: "POST", headers: { authorization: `Bearer ${token}` } });

interface Hinting {
  readonly send: (path: string, parts?: RequestParts) => Promise<HttpAnswer>;
  readonly checksUrl: string;
  readonly lines: readonly string[];
}

/** A rolecall before pg1 (the leader) and pg2, with an admin listener that has these access rules. */
async function hinting(
  context: TestContext,
  access: Partial<ListenerAccess> = {},
  workers: number = 0,
): Promise<Hinting> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const admin = listenerOf({ dialect: "admin", address: "127.0.0.2", access: { ...unrestrictedAccess, ...access } });
  const health = listenerOf({});
  const config = configOf({ clusters: [fixedCluster(nodes)], listen: [health, admin], workers });
  const lines: string[] = [];
  const stream = new PassThrough().on("data", (line: Buffer) => lines.push(line.toString()));
  const app = appOf(context, config, { log: pino({ level: "info" }, stream) });
  await app.start();
  const url = `http://127.0.0.2:${portFor(app, admin)}`;
  return {
    send: (path, parts = { method: "POST" }) => sendRequest(`${url}${path}`, parts),
    checksUrl: `http://127.0.0.1:${portFor(app, health)}`,
    lines,
  };
}

const hint = "/hint?cluster=demo";

suite("who may send a hint", limit, () => {
  const rows: readonly (readonly [string, Partial<ListenerAccess>, readonly (readonly [string | null, number])[]])[] = [
    ["without credentials", {}, [[null, 202]]],
    [
      "with auth",
      { auth: adminAuth },
      [
        [null, 401],
        ["admin-token", 202],
        ["hint-token", 401],
      ],
    ],
    [
      "with auth and hint tokens",
      { auth: adminAuth, hintTokens: [hintFile] },
      [
        [null, 401],
        ["admin-token", 202],
        ["hint-token", 202],
        ["guess", 401],
      ],
    ],
    [
      "with auth for basic users only and hint tokens",
      { auth: { ...adminAuth, bearer: [] }, hintTokens: [hintFile] },
      [
        ["admin-token", 401],
        ["hint-token", 202],
      ],
    ],
    [
      "with hint tokens alone",
      { hintTokens: [hintFile] },
      [
        [null, 401],
        ["hint-token", 202],
        ["admin-token", 401],
      ],
    ],
    ["read_only", { readOnly: true }, [[null, 403]]],
    [
      "read_only with hint tokens",
      { readOnly: true, hintTokens: [hintFile] },
      [
        [null, 401],
        ["hint-token", 202],
      ],
    ],
    ["from elsewhere", { allow: ["10.0.0.0/8"], hintTokens: [hintFile] }, [["hint-token", 403]]],
  ];
  for (const [title, access, senders] of rows)
    test(title, async (context) => {
      const { send } = await hinting(context, access);
      for (const [token, status] of senders)
        assert.equal((await send(hint, token === null ? undefined : bearer(token))).status, status, `${token}`);
    });
});

suite("who may announce that a leader stops", limit, () => {
  const beforeStop = `${hint}&node=pg1&event=before_stop`;
  const beforeStopTokens = [{ cluster: "demo", file: stopFile }];
  const rows: readonly (readonly [string, Partial<ListenerAccess>, readonly (readonly [string | null, number])[]])[] = [
    ["nobody without credentials", {}, [[null, 403]]],
    [
      "nobody without tokens and management",
      { auth: adminAuth, hintTokens: [hintFile] },
      [
        ["admin-token", 403],
        ["hint-token", 401],
      ],
    ],
    ["whoever may begin a switchover", { auth: adminAuth, management: true }, [["admin-token", 409]]],
    [
      "a token of the cluster",
      { readOnly: true, hintTokens: [hintFile], beforeStopTokens },
      [
        [null, 401],
        ["hint-token", 401],
        ["stop-token", 409],
      ],
    ],
    [
      "no token of another cluster",
      { readOnly: true, hintTokens: [hintFile], beforeStopTokens: [{ cluster: "other", file: stopFile }] },
      [
        [null, 403],
        ["stop-token", 403],
      ],
    ],
  ];
  for (const [title, access, senders] of rows)
    test(title, async (context) => {
      const { send } = await hinting(context, access);
      for (const [token, status] of senders)
        assert.equal((await send(beforeStop, token === null ? undefined : bearer(token))).status, status, `${token}`);
      if (access.beforeStopTokens === undefined) return;
      for (const path of [hint, `${hint}&node=pg1&event=stop`, "/drains/demo/pg1", "/pauses", "/metrics"])
        assert.notEqual((await send(path, bearer("stop-token"))).status, 202, path);
    });

  test("without a pooler nothing is held, and the answer says so", async (context) => {
    const { send } = await hinting(context, { beforeStopTokens });
    const { status, body } = await send(beforeStop, bearer("stop-token"));
    const { effect, reason } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    assert.deepEqual([status, effect], [409, "not_held"]);
    assert.match(String(reason), /poolers must have a database of it, got none/);
  });
});

test("a hint token permits nothing but POST /hint", limit, async (context) => {
  const { send, checksUrl } = await hinting(context, { auth: adminAuth, hintTokens: [hintFile] });
  const { headers = {} } = bearer("hint-token");
  for (const [method, path] of [
    ["GET", "/hint?cluster=demo"],
    ["DELETE", "/hint?cluster=demo"],
    ["GET", "/metrics"],
    ["GET", "/status"],
    ["GET", "/livez"],
    ["POST", "/drains/demo/pg1"],
    ["DELETE", "/drains/demo/pg1"],
    ["POST", "/drains/demo/pg1?x=/hint"],
    ["POST", "/hint/drains/demo/pg1"],
    ["POST", "/clusters/demo/hint"],
    ["POST", "//hint"],
    ["POST", "/hint%2f..%2fdrains/demo/pg1"],
  ] as const)
    assert.equal((await send(path, { method, headers })).status, 401, `${method} ${path}`);
  const onHealth = await sendRequest(`${checksUrl}/hint?cluster=demo`, { method: "POST", headers });
  assert.ok([400, 403, 404, 405].includes(onHealth.status), `${onHealth.status} ${onHealth.body}`);
});

for (const workers of workerCounts)
  test(`says what a hint did, logs and counts it, with ${workers} workers`, { timeout: 60_000 }, async (context) => {
    const { send, lines } = await hinting(context, { hintTokens: [hintFile] }, workers);
    await until("a leader", async () => {
      const { body } = await send("/hint?cluster=demo&node=pg1", bearer("hint-token"));
      return JSON.parse(body).effect === "writable";
    });
    const token = bearer("hint-token");
    for (const [query, expected] of [
      ["cluster=demo&node=pg2&event=stop", { cluster: "demo", node: "pg2", event: "stop", effect: "not_leader" }],
      ["cluster=demo&node=pg2", { cluster: "demo", node: "pg2", event: "promote", effect: "begun" }],
      ["cluster=demo&node=pg2&event=promote", { cluster: "demo", node: "pg2", event: "promote", effect: "running" }],
      ["cluster=demo&node=pg1&event=stop", { cluster: "demo", node: "pg1", event: "stop", effect: "begun" }],
      ["cluster=demo", { cluster: "demo", node: null, event: null, effect: "running" }],
    ] as const) {
      const { status, headers, body } = await send(`/hint?${query}`, token);
      assert.deepEqual([status, headers["cache-control"], JSON.parse(body)], [202, "no-store", expected]);
    }
    const metrics = (await send("/metrics", {})).body;
    assert.match(metrics, /^rolecall_hints_total\{cluster="demo",effect="not_leader"\} 1$/m);
    assert.match(metrics, /^rolecall_bursts_total\{cluster="demo",cause="hint"\} 2$/m);
    const line = await until("a log line", () => lines.find((text) => text.includes('"not_leader"')));
    const { who, from, node, msg } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    assert.deepEqual([who, from, node, msg], ["hints:1", "127.0.0.1", "pg2", "hint"]);
    assert.ok(!lines.join("").includes("hint-token"));
  });

test("refuses what it cannot read, and names what is allowed", limit, async (context) => {
  const { send, lines } = await hinting(context);
  for (const [query, message] of [
    ["", /Cannot read parameter cluster: it must be one of demo, got ""/],
    ["cluster=other", /parameter cluster: it must be one of demo, got "other"/],
    ["cluster=demo&node=pg9", /parameter node: it must be one of pg1, pg2, got "pg9"/],
    ["cluster=demo&node=", /parameter node: it must be one of pg1, pg2, got ""/],
    ["cluster=demo&node=pg1&event=lead", /parameter event: it must be one of promote, stop, before_stop, got "lead"/],
    ["cluster=demo&event=stop", /parameter event: it must be left out without node, got "stop"/],
    ["cluster=demo&nod=pg1", /query: it must be one of the parameters cluster, node, event, got "nod"/],
    ["cluster=%ff%00", /parameter cluster: it must be one of demo/],
  ] as const) {
    const { status, body } = await send(`/hint?${query}`);
    assert.equal(status, 400, query);
    assert.match(JSON.parse(body).message, message);
  }
  assert.equal((await send(`/hint?cluster=${"x".repeat(3_000)}`)).status, 414);
  assert.deepEqual((await send(hint, { method: "GET" })).headers.allow, "POST");
  const foreign = { method: "POST", headers: { origin: "https://evil.example" } };
  assert.equal((await send(hint, foreign)).status, 403);
  const withBody = await send(hint, { method: "POST", body: "x".repeat(100_000) });
  assert.deepEqual([withBody.status, withBody.headers.connection], [202, "close"]);
  assert.ok(lines.some((text) => text.includes('"hint refused"')));
});

test("a flood of hints is a bounded number of log lines and probes", limit, async (context) => {
  const { send, lines } = await hinting(context);
  for (let time = 0; time < 200; time += 1) assert.equal((await send(hint)).status, 202);
  const metrics = (await send("/metrics", {})).body;
  assert.match(metrics, /^rolecall_bursts_total\{cluster="demo",cause="hint"\} 1$/m);
  const logged = lines.filter((text) => text.includes('"msg":"hint"')).length;
  assert.ok(logged > 0 && logged <= 20, `${logged} lines`);
});

test("hint tokens are read again when their file changes", limit, async (context) => {
  const changing = join(folder, "changing");
  writeFileSync(changing, "old\n");
  const { send } = await hinting(context, { hintTokens: [changing] });
  assert.equal((await send(hint, bearer("old"))).status, 202);
  writeFileSync(changing, "new\n");
  await until("the new token", async () => (await send(hint, bearer("new"))).status === 202);
  assert.equal((await send(hint, bearer("old"))).status, 401);
});

test("only POST /hint is a hint, however it is spelt", () => {
  for (const target of ["/hint", "/hint/", "/hint?x=1", "/%68int", "http://any.example/hint?a"])
    assert.ok(isHintCall({ method: "POST", target }), target);
  for (const target of [
    "/hints",
    "/",
    "/x/hint",
    "//hint",
    "/nodes/hint",
    "/nodes/a/hint",
    "/clusters/hint/hint",
    "/drains/../hint",
    "*",
  ])
    assert.ok(!isHintCall({ method: "POST", target }), target);
  assert.ok(!isHintCall({ method: "PUT", target: "/hint" }));
});
