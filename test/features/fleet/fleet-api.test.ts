import assert from "node:assert/strict";
import { createServer } from "node:http";
import { suite, test, type TestContext } from "node:test";
import { unrestrictedAccess } from "../../../src/core/config/model/listener-access-config.ts";
import { answerFleet } from "../../../src/features/fleet/fleet-api.ts";
import { requestOf, writeReply } from "../../../src/core/http/message/http-exchange.ts";
import { PageGate } from "../../../src/core/http/pages/page-gate.ts";
import { appOf, limit, portFor } from "../../app/app-fixture.ts";
import { clusterOf, configOf, listenerOf } from "../../fake/config.ts";
import { FleetFixture, leaseMs, type Member } from "../../fake/fleet-fixture.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { listenDuringTest } from "../../fake/listen.ts";

type Send = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly document: ReturnType<typeof JSON.parse> }>;

/** Answers the calls of a listener from a member. @param only the listener's cluster */
async function serve(context: TestContext, member: Member | null, only: string | null = null): Promise<Send> {
  const about = { name: "edges", streams: new Map(), isProbed: () => false, disagreementsOf: () => [], nowMs: 0 };
  const membership = member?.membership ?? null;
  const pieces = (one: string | null): Iterable<string> | null => membership?.pieces(about, one) ?? null;
  const fleet = { membership, pieces };
  const gate = new PageGate();
  const server = createServer((message, response) => {
    const [path = "", query = ""] = decodeURIComponent(message.url ?? "")
      .replace(/^\/fleet\/?/, "")
      .split("?");
    const caller = { address: "127.0.0.1", principal: "ann@token", consumesAuthorization: false };
    const { limits } = unrestrictedAccess;
    const call = { message, response, request: requestOf(message), caller, limits, onError: assert.fail };
    const answer = async (): Promise<void> => {
      const reply = await answerFleet(fleet, { call, path, query, only, gate, wall: () => 0 });
      if (reply !== null) writeReply(response, reply, call.request.method);
    };
    void answer();
  });
  const port = await listenDuringTest(context, server);
  return async (method, path, body) => {
    const headers = { "content-type": "application/json" };
    const answer = await sendRequest(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    return { status: answer.status, document: answer.body === "" ? null : JSON.parse(answer.body) };
  };
}

/** A fleet of two members with addresses as they are. */
async function twoMembers(): Promise<{ readonly fleet: FleetFixture; readonly a: Member; readonly b: Member }> {
  const fleet = new FleetFixture(4);
  const [a, b] = [fleet.add("a:9108"), fleet.add("[fd00::1]:9108")];
  await fleet.clock.pass(20_000);
  return { fleet, a, b };
}

suite("the fleet on admin listeners", limit, () => {
  test("is null without one", async (context) => {
    const admin = listenerOf({ dialect: "admin" });
    const app = appOf(context, configOf({ clusters: [clusterOf({})], listen: [admin] }));
    await app.start();
    const url = `http://127.0.0.1:${portFor(app, admin)}/fleet`;
    assert.deepEqual(JSON.parse((await sendRequest(url)).body), { fleet: null });
    const headers = { "content-type": "application/json" };
    const drain = await sendRequest(`${url}/members/a/drain`, { method: "POST", headers, body: { for: "1h" } });
    assert.deepEqual([drain.status, JSON.parse(drain.body).error], [404, "no_fleet"]);
  });

  test("shows members and clusters", async (context) => {
    const { a } = await twoMembers();
    const send = await serve(context, a);
    const { status, document } = await send("GET", "/fleet");
    const { members, clusters, ...rest } = document.fleet;
    assert.deepEqual([status, rest], [200, { name: "edges", member: "a:9108", phase: "joined", problem: null }]);
    assert.deepEqual([members.length, clusters.length], [2, 4]);
    const restricted = await serve(context, a, "c1");
    const one = (await restricted("GET", "/fleet")).document.fleet;
    assert.deepEqual(
      one.clusters.map(({ cluster }: { cluster: string }) => cluster),
      ["c1"],
    );
  });

  test("drains a member for a time, and ends that", async (context) => {
    const { fleet, a, b } = await twoMembers();
    const send = await serve(context, a);
    const path = `/fleet/members/${encodeURIComponent("[fd00::1]:9108")}/drain`;
    const drain = { by: "ann (ann@token)", until: new Date(90 * 60_000).toISOString() };
    assert.deepEqual(await send("POST", path, { for: "90min", by: "ann" }), {
      status: 200,
      document: { member: "[fd00::1]:9108", drain },
    });
    await fleet.clock.pass(5_000);
    assert.deepEqual([fleet.owned(a).length, fleet.owned(b).length], [4, 0]);
    assert.deepEqual(await send("DELETE", path, {}), {
      status: 200,
      document: { member: "[fd00::1]:9108", drain: null },
    });
    assert.deepEqual(a.drains, [
      { member: "[fd00::1]:9108", drain, by: "ann (ann@token)" },
      { member: "[fd00::1]:9108", drain: null, by: "ann@token" },
    ]);
    assert.equal((await send("DELETE", path, {})).document.error, "member_not_drained");
  });

  test("ends the drain of a member that is gone", async (context) => {
    const { fleet, a, b } = await twoMembers();
    const send = await serve(context, a);
    const path = `/fleet/members/${encodeURIComponent("[fd00::1]:9108")}/drain`;
    await send("POST", path, { for: "1h" });
    await b.membership.stop();
    await fleet.clock.pass(1_000);
    assert.equal((await send("POST", path, { for: "1h" })).document.error, "unknown_member");
    assert.equal((await send("DELETE", path, {})).status, 200);
  });

  const refusals: readonly [what: string, method: string, path: string, body: object, status: number, why: RegExp][] = [
    ["an unknown member", "POST", "/fleet/members/c:1/drain", { for: "1h" }, 404, /must be one of a:9108, \[fd00/],
    ["no time", "POST", "/fleet/members/a:9108/drain", {}, 400, /for.*1s to 30d.*nothing/],
    ["too short a time", "POST", "/fleet/members/a:9108/drain", { for: "500ms" }, 400, /500ms/],
    ["too long a time", "POST", "/fleet/members/a:9108/drain", { for: "31d" }, 400, /31d/],
    ["a member that is not drained", "DELETE", "/fleet/members/a:9108/drain", {}, 404, /a:9108 is not drained/],
    ["another method", "PUT", "/fleet/members/a:9108/drain", {}, 405, /POST, DELETE/],
    ["another path", "POST", "/fleet/members/a:9108", {}, 404, /\/fleet\/members/],
    ["a path below", "POST", "/fleet/members/a:9108/drain/x", {}, 404, /\/fleet\/members/],
    ["a change of the fleet", "POST", "/fleet", {}, 405, /GET/],
    ["a parameter", "GET", "/fleet?x=1", {}, 400, /x/],
  ];
  test("refuses what it does not know", async (context) => {
    const { a } = await twoMembers();
    const send = await serve(context, a);
    for (const [what, method, path, body, status, why] of refusals) {
      const answer = await send(method, path, body);
      assert.equal(answer.status, status, what);
      assert.match(answer.document.message, why, what);
    }
  });

  test("drains nothing over a listener with a cluster, and nothing while apart", async (context) => {
    const { fleet, a } = await twoMembers();
    const restricted = await serve(context, a, "c1");
    const refused = await restricted("POST", "/fleet/members/a:9108/drain", { for: "1h" });
    assert.deepEqual([refused.status, refused.document.error], [403, "one_cluster"]);
    fleet.keys.isDown = true;
    await fleet.clock.pass(leaseMs * 2);
    const send = await serve(context, a);
    const { status, document } = await send("POST", "/fleet/members/a:9108/drain", { for: "1h" });
    assert.deepEqual([status, document.error], [503, "apart"]);
    assert.match(document.message, /must be connected to the fleet's etcd, got lost/);
    const shown = (await send("GET", "/fleet")).document.fleet;
    assert.deepEqual([shown.phase, shown.problem, shown.members.length], ["apart", "lost", 2]);
  });

  test("says that a drain could not be written", async (context) => {
    const { a } = await twoMembers();
    a.store.isCut = true;
    const send = await serve(context, a);
    const { status, document } = await send("POST", "/fleet/members/a:9108/drain", { for: "1h" });
    assert.deepEqual([status, document.error, a.drains], [503, "not_written", []]);
  });
});
