import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { routingContextOf, openNodeApiListener } from "../../../fake/node-api-listener.ts";
import { steadyCluster, ClusterFixture } from "../../../fake/cluster-fixture.ts";

const whole = routingContextOf({ wholeCluster: true });

describe("a document", () => {
  test("is served from memory with its age", async (context) => {
    const watched = steadyCluster();
    const front = await openNodeApiListener(context, watched, { routing: whole, nowMs: 4_600 });
    assert.equal((await front.request("/cluster")).line, "HTTP/1.1 503 unknown");
    watched.nameLeader("pg1", "pg2", 1_000);
    const { status, headers, body } = await front.request("/cluster");
    assert.deepEqual([status, headers.get("Age"), headers.get("X-Rolecall-Node")], [200, "4", "pg2"]);
    assert.equal(JSON.parse(body).scope, "demo");
  });

  test("that the cluster does not have gets the node's own 502", async (context) => {
    const watched = steadyCluster();
    const served = { status: 502, body: "", source: "pg1", sentAtMs: 0 };
    watched.record({ kind: "document", cluster: "demo", answer: { name: "failsafe", served } }, 0);
    assert.equal(
      (await (await openNodeApiListener(context, watched, { routing: whole })).request("/failsafe")).status,
      502,
    );
  });

  test("of a node's status is 200 while it is fresh; for the whole cluster it is the primary's", async (context) => {
    const watched = steadyCluster();
    const front = await openNodeApiListener(context, watched, { routing: whole });
    for (const path of ["/patroni", "/ha"]) {
      assert.equal((await front.request(`/nodes/pg2${path}`)).status, 200);
      assert.equal((await front.request(path)).headers.get("X-Rolecall-Node"), "pg1");
    }
    assert.equal((await front.request("/nodes/pg3/patroni")).line, "HTTP/1.1 503 unknown");
    watched.fail("pg2", "refused", 1_000);
    watched.fail("pg2", "refused", 2_000);
    watched.fail("pg2", "refused", 3_000);
    assert.equal((await front.request("/nodes/pg2/patroni")).line, "HTTP/1.1 503 down");
    const later = await openNodeApiListener(context, watched, { routing: whole, nowMs: 5_500 });
    assert.equal((await later.request("/nodes/pg1/patroni")).line, "HTTP/1.1 503 stale");
  });
});

describe("/livez and /readyz", () => {
  test("report rolecall only, on every listener", async (context) => {
    const front = await openNodeApiListener(context, new ClusterFixture(), { unready: "draining" });
    assert.deepEqual(
      [(await front.request("/livez")).status, (await front.request("/readyz")).line],
      [200, "HTTP/1.1 503 draining"],
    );
    const ready = await openNodeApiListener(context, new ClusterFixture());
    assert.equal((await ready.request("/readyz")).status, 200);
  });
});

test("every answer is counted under one of a few names", async (context) => {
  const front = await openNodeApiListener(context, steadyCluster(), { routing: whole });
  for (const target of ["/primary", "/cluster", "/livez", "/nowhere", "/patroni"]) await front.request(target);
  await front.request("/primary", { method: "POST" });
  await front.request("/reload", { method: "POST" });
  assert.deepEqual(front.answers, [
    "primary 200",
    "cluster 503",
    "livez 200",
    "bad_request 400",
    "status 200",
    "not_allowed 405",
    "forbidden 403",
  ]);
});
