import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { hashOf } from "../../src/cli/commands/hash-password.ts";
import { unrestrictedAccess, type ListenerAccess } from "../../src/core/config/model/listener-access-config.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { openEventStream } from "../fake/event-stream-client.ts";
import { openFakeCluster, type FakeNode } from "../fake/fake-node.ts";
import { sendRequest, type HttpAnswer, type RequestParts } from "../fake/http-request.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, whole, withQuickProbes } from "./app-fixture.ts";

const ann = { authorization: `Basic ${Buffer.from("ann:hunter2").toString("base64")}` };
const json = { "content-type": "application/json" };
const auth = {
  for: "all",
  basic: [{ user: "ann", scrypt: hashOf("hunter2") }],
  bearer: [],
  certificate: false,
} as const;
const managed: Partial<ListenerAccess> = { auth, management: true };

interface Fixture {
  readonly nodes: readonly FakeNode[];
  /** The port of the health listener. */
  readonly health: number;
  readonly send: (path: string, parts?: RequestParts) => Promise<HttpAnswer>;
  readonly url: string;
}

async function openApp(context: TestContext, access: Partial<ListenerAccess> = {}): Promise<Fixture> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const admin = listenerOf({ dialect: "admin", access: { ...unrestrictedAccess, ...access } });
  const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [whole, admin] })));
  await app.start();
  const url = `http://127.0.0.1:${portFor(app, admin)}`;
  return { nodes, url, health: portFor(app, whole), send: (path, parts) => sendRequest(`${url}${path}`, parts) };
}

test("/edges counts checks by the server that HAProxy names, and ignores other headers", limit, async (context) => {
  const { health, send } = await openApp(context);
  const check = (state: string): Promise<HttpAnswer> =>
    sendRequest(`http://127.0.0.1:${health}/nodes/pg1/primary`, { headers: { "x-haproxy-server-state": state } });
  const named = "UP 2/3; name=pg_write/pg1; node=lb1; weight=1/1; scur=0/1; qcur=0";
  for (const state of [named, named, "UP; name=<b>/pg1", "UP", `UP; name=${"x".repeat(500)}/pg1`]) await check(state);
  const edges = JSON.parse((await send("/edges")).body);
  const row = { backend: "pg_write", server: "pg1", cluster: "demo", route: "primary" };
  const [{ ms_ago: agoMs, ...counted }, ...others] = edges.backends;
  assert.deepEqual([counted, others], [{ ...row, status: 200, reason: null, takes: true, count: 2 }, []]);
  assert.ok(agoMs >= 0 && agoMs < 60_000, `${agoMs}`);
  await sendRequest(`http://127.0.0.1:${health}/nodes/pg1/replica`, { headers: { "x-haproxy-server-state": named } });
  const { backends } = JSON.parse((await send("/edges")).body);
  assert.deepEqual(
    backends.map(({ route, status, reason }: Record<string, unknown>) => [route, status, reason]),
    [
      ["primary", 200, null],
      ["replica", 503, "wrong_role"],
    ],
  );
  assert.deepEqual(edges.answers[0], { route: "primary", status: 200, count: 5 });
  assert.deepEqual(
    edges.listeners.map(({ dialect }: { dialect: string }) => dialect),
    ["node", "admin"],
  );
  assert.deepEqual([edges.workers, edges.balancers, edges.process.phase], [null, [], "serving"]);
  assert.equal((await send("/edges", { method: "POST" })).status, 405);
});

for (const { title, access, headers, session } of [
  {
    title: "nobody is authenticated, so nobody changes anything",
    access: {},
    headers: {},
    session: { principal: null, may: { drain: false, switchover: false } },
  },
  {
    title: "a user may drain; switchovers need management",
    access: { auth },
    headers: ann,
    session: { principal: "ann", may: { drain: true, switchover: false } },
  },
  {
    title: "a user may do both",
    access: managed,
    headers: ann,
    session: { principal: "ann", may: { drain: true, switchover: true } },
  },
  {
    title: "a read-only listener lets nobody change anything",
    access: { ...managed, readOnly: true },
    headers: ann,
    session: { principal: "ann", may: { drain: false, switchover: false } },
  },
] as const) {
  test(`/session: ${title}`, limit, async (context) => {
    const { send } = await openApp(context, access);
    assert.deepEqual(JSON.parse((await send("/session", { headers })).body), session);
  });
}

test("where a password is for changes only, POST /session asks for it, and GET does not", limit, async (context) => {
  const { send } = await openApp(context, { auth: { ...auth, for: "unsafe" } });
  assert.equal(JSON.parse((await send("/session")).body).principal, null);
  const refused = await send("/session", { method: "POST" });
  assert.deepEqual([refused.status, refused.headers["www-authenticate"]?.startsWith("Basic")], [401, true]);
  const known = await send("/session", { method: "POST", headers: ann });
  assert.equal(JSON.parse(known.body).principal, "ann");
});

test("names who may take over in a switchover, and why others may not", limit, async (context) => {
  const { nodes, send } = await openApp(context);
  const [, pg2] = nodes;
  const read = async (): Promise<{ leader: string; candidates: Record<string, unknown>[] }> =>
    JSON.parse((await send("/clusters/demo/switchover")).body);
  const first = await until("a leader", async () => {
    const options = await read();
    return options.leader === "pg1" && options;
  });
  assert.deepEqual([first.candidates[0]?.["node"], first.candidates[0]?.["possible"]], ["pg2", true]);
  if (pg2 !== undefined) pg2.fields = { tags: { nofailover: true } };
  const second = await until("the tag", async () => {
    const options = await read();
    return options.candidates[0]?.["possible"] === false && options;
  });
  assert.deepEqual(
    [second.candidates[0]?.["error"], second.candidates[0]?.["message"]],
    ["nofailover", "candidate pg2 is tagged nofailover"],
  );
  assert.equal((await send("/clusters/nope/switchover")).status, 404);
});

/** How many nodes received a switchover. */
function forwarded(nodes: readonly FakeNode[]): number {
  return nodes.flatMap(({ requests }) => requests).filter((target) => target === "/switchover").length;
}

const body = { leader: "pg1", candidate: "pg2" };

for (const { title, access, headers, path, status, error } of [
  { title: "without management", access: { auth }, headers: { ...ann, ...json }, status: 403, error: "management_off" },
  { title: "without a credential", access: managed, headers: json, status: 401, error: "unauthorized" },
  {
    title: "of a caller that no rule authenticates",
    access: { ...managed, auth: null },
    headers: json,
    status: 403,
    error: "unauthenticated",
  },
  {
    title: "that a form of a page can send",
    access: managed,
    headers: { ...ann, "content-type": "text/plain" },
    status: 415,
    error: "unsupported_media_type",
  },
  {
    title: "of a page of another site",
    access: managed,
    headers: { ...ann, ...json, origin: "http://evil.example" },
    status: 403,
    error: "cross_origin",
  },
  {
    title: "of a page of another site, by Sec-Fetch-Site",
    access: managed,
    headers: { ...ann, ...json, "sec-fetch-site": "cross-site" },
    status: 403,
    error: "cross_origin",
  },
  {
    title: "with a misspelt dry_run",
    access: managed,
    headers: { ...ann, ...json },
    path: "/clusters/demo/switchover?dryrun=1",
    status: 400,
    error: "bad_request",
  },
  {
    title: "of an unknown cluster",
    access: managed,
    headers: { ...ann, ...json },
    path: "/clusters/nope/switchover",
    status: 404,
    error: "unknown_cluster",
  },
] as const) {
  test(`refuses a switchover ${title}`, limit, async (context) => {
    const { nodes, send } = await openApp(context, access);
    const answer = await send(path ?? "/clusters/demo/switchover", { method: "POST", headers, body });
    assert.deepEqual([answer.status, JSON.parse(answer.body).error], [status, error]);
    assert.equal(forwarded(nodes), 0);
  });
}

test("makes a dry run of a switchover, then forwards it to one node", limit, async (context) => {
  const { nodes, send } = await openApp(context, managed);
  const headers = { ...ann, ...json };
  const path = "/clusters/demo/switchover";
  const dry = await send(`${path}?dry_run=1`, { method: "POST", headers, body });
  assert.deepEqual([dry.status, JSON.parse(dry.body).would], [200, "pass"]);
  assert.equal(forwarded(nodes), 0);
  await send(path, { method: "POST", headers, body });
  assert.equal(forwarded(nodes), 1);
});

test("a drain names the authenticated user, whatever its body claims", limit, async (context) => {
  const { send } = await openApp(context, { auth });
  const headers = { ...ann, ...json };
  const drain = async (by: object): Promise<string> => {
    const request = { for: "1min", reason: "test", ...by };
    const answer = await send("/drains/demo/pg2", { method: "POST", headers, body: request });
    return JSON.parse(answer.body).drain.by;
  };
  assert.deepEqual(
    [await drain({}), await drain({ by: "ann" }), await drain({ by: "root" })],
    ["ann", "ann", "root (ann)"],
  );
});

test("a row of the fleet counts the events that have begun and not ended", limit, async (context) => {
  const { nodes, url } = await openApp(context);
  const stream = await openEventStream(context, `${url}/events/stream`);
  const openEvents = (data: Record<string, unknown>): number | undefined =>
    (data["rows"] as { open_events: number }[])[0]?.open_events;
  await stream.next("rows", ({ data }) => openEvents(data) === 0);
  await nodes[1]?.close();
  await stream.next("rows", ({ data }) => (openEvents(data) ?? 0) > 0);
});
