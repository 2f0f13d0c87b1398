import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ClusterProber } from "../../../../src/core/probe/cluster-prober.ts";
import {
  failedReply,
  healthyCluster,
  jsonReply,
  neverReplies,
  FakeTransport,
  type Responder,
} from "../../../fake/fake-transport.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

const names = ["pg1", "pg2", "pg3"];

/**
 * Which nodes claim the lock, and which node each cluster document names. `null` for nobody, "hangs" if a node sends
 * none.
 */
interface LeaderScript {
  readonly claims: readonly string[];
  readonly views: { readonly [node: string]: string | null };
  readonly failsafe?: readonly string[];
}

function cluster({ claims, views, failsafe = [] }: LeaderScript): Responder {
  return (origin, path) => {
    const name = new URL(origin).hostname;
    if (path === "/leader") {
      const role = claims.includes(name) ? { role: "primary" } : {};
      return jsonReply(
        statusDocument(name, { ...role, failsafe_mode_is_active: failsafe.includes(name) }),
        claims.includes(name) ? 200 : 503,
      );
    }
    const leader = views[name];
    if (path !== "/cluster" || leader === undefined) return healthyCluster(names)(origin, path);
    if (leader === "hangs") return failedReply("timeout");
    const row = (member: string): object => ({
      name: member,
      role: member === leader ? "leader" : "replica",
      api_url: `http://${member}:8008/patroni`,
    });
    return jsonReply({ scope: "demo", members: names.map(row) });
  };
}

/** A cluster led by pg1 that has been quiet for 12 s, with the default intervals. */
async function quietCluster(
  context: TestContext,
  script: Responder = healthyCluster(names),
): Promise<{ scripted: FakeTransport; prober: ClusterProber }> {
  const watched = new ClusterFixture({ policy: { intervalMs: 1_000, viewMaxAgeMs: 11_500 } });
  const scripted = new FakeTransport(context, watched, script);
  const prober = new ClusterProber(scripted.context());
  scripted.onState = (before, after) => prober.onChange(before, after);
  void prober.start();
  await scripted.advance(12_000);
  return { scripted, prober };
}

/** The instants of the requests for each node's view after a given instant, by node. */
function viewsAfter(scripted: FakeTransport, atMs: number): { readonly [node: string]: readonly number[] } {
  const sent = scripted.sent.filter((request) => request.atMs > atMs && request.url.endsWith("/cluster"));
  return Object.fromEntries(
    names.map((name) => [name, sent.filter(({ url }) => url.includes(`${name}:`)).map((request) => request.atMs)]),
  );
}

/** The instants at which the views of all nodes were requested at once. */
function roundsAfter(scripted: FakeTransport, atMs: number, of: readonly string[] = names): readonly number[] {
  const views = viewsAfter(scripted, atMs);
  return (views[of[0] ?? ""] ?? []).filter((instant) => of.every((name) => views[name]?.includes(instant)));
}

test("a change of claims starts a round, another follows after one interval, then no more", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const sinceMs = scripted.nowMs;
  scripted.respond = healthyCluster(["pg2", "pg1", "pg3"]);
  await scripted.advance(8_000);
  const rounds = roundsAfter(scripted, sinceMs);
  assert.equal(rounds.length, 2, rounds.join());
  assert.ok((rounds[0] ?? 0) - sinceMs <= 1_300 && (rounds[1] ?? 0) - (rounds[0] ?? 0) === 1_000, rounds.join());
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("a round follows every cluster interval while several nodes claim the lock", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const sinceMs = scripted.nowMs;
  scripted.respond = cluster({ claims: ["pg1", "pg2"], views: { pg1: "pg1", pg2: "pg2", pg3: "pg1" } });
  await scripted.advance(12_000);
  const [first = 0, ...later] = roundsAfter(scripted, sinceMs);
  assert.deepEqual(
    later.map((instant) => instant - first),
    [1_000, 4_000, 7_000, 10_000],
  );
  assert.equal(scripted.fixture.judge("pg1", "primary", scripted.nowMs), "fit");
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "superseded");
  prober.stop();
});

test("a view that does not name the holder starts a round and a probe of the node that it names", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const sinceMs = scripted.nowMs;
  scripted.respond = cluster({ claims: ["pg1"], views: { pg3: "pg2" } });
  await scripted.advance(12_000);
  const [first = 0, second = 0] = roundsAfter(scripted, sinceMs);
  const alone = (viewsAfter(scripted, sinceMs)["pg3"] ?? [])[0] ?? 0;
  assert.ok(first - alone <= 100 && second - first === 1_000, `${alone}, ${first}, ${second}`);
  const probes = scripted.sent.filter(
    ({ atMs, url }) => atMs > alone && atMs <= alone + 300 && url.endsWith("pg2:8008/leader"),
  );
  assert.ok(probes.length > 0);
  assert.equal(scripted.fixture.judge("pg1", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("leaves a node whose view failed out of rounds for five seconds, and the others decide", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const sinceMs = scripted.nowMs;
  scripted.respond = cluster({ claims: ["pg1", "pg2"], views: { pg1: "pg2", pg2: "pg2", pg3: "hangs" } });
  await scripted.advance(1_500);
  assert.equal(
    scripted.fixture.judge("pg2", "primary", scripted.nowMs),
    "fit",
    "the neutral node hangs, both claimants name pg2",
  );
  await scripted.advance(10_500);
  const rounds = roundsAfter(scripted, sinceMs, ["pg1", "pg2"]);
  const first = rounds[0] ?? 0;
  const inRounds = (viewsAfter(scripted, sinceMs)["pg3"] ?? [])
    .filter((instant) => rounds.includes(instant))
    .map((instant) => instant - first);
  assert.ok(
    inRounds.length >= 2 && inRounds.every((instant, at) => at === 0 || instant - (inRounds[at - 1] ?? 0) >= 5_000),
    inRounds.join(),
  );
  prober.stop();
});

test("requests the view of a node that refused connections again in the next round", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const nobody = cluster({ claims: ["pg1"], views: { pg1: null, pg2: null, pg3: null } });
  scripted.respond = nobody;
  await scripted.advance(5_000);
  const sinceMs = scripted.nowMs;
  scripted.respond = (origin, path) => (origin.includes("pg1") ? failedReply("refused") : nobody(origin, path));
  await scripted.advance(3_500);
  const refused = viewsAfter(scripted, sinceMs)["pg1"] ?? [];
  assert.ok(refused.length > 0);
  const last = roundsAfter(scripted, sinceMs, ["pg2", "pg3"]).at(-1) ?? 0;
  scripted.respond = cluster({ claims: ["pg1"], views: { pg1: "pg1", pg2: "pg1", pg3: "pg1" } });
  await scripted.advance(last + 2_900 - scripted.nowMs);
  assert.equal(scripted.fixture.judge("pg1", "primary", scripted.nowMs), "superseded", "by its view from before");
  await scripted.advance(200);
  assert.equal(scripted.fixture.judge("pg1", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("no round is sent while a sole claimant reports failsafe; a replica's flag has no effect", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  scripted.respond = cluster({ claims: ["pg1"], views: { pg3: "pg2" }, failsafe: ["pg1"] });
  await scripted.advance(2_000);
  const sinceMs = scripted.nowMs;
  await scripted.advance(10_000);
  assert.deepEqual(viewsAfter(scripted, sinceMs), { pg1: [], pg2: [], pg3: [] });
  scripted.respond = cluster({ claims: ["pg2"], views: { pg1: "pg2", pg2: "pg2", pg3: "pg2" }, failsafe: ["pg3"] });
  await scripted.advance(4_000);
  assert.ok(roundsAfter(scripted, sinceMs).length > 0);
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("a claimant contradicted by its own document loses its yes until they agree", async (context) => {
  const { scripted, prober } = await quietCluster(
    context,
    cluster({ claims: ["pg2"], views: { pg1: "pg2", pg2: "pg2", pg3: "pg2" } }),
  );
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "fit");
  scripted.respond = (origin, path) => {
    if (origin.includes("pg1") && path === "/leader") return failedReply("refused");
    return cluster({ claims: ["pg2"], views: { pg1: "hangs", pg2: "pg1", pg3: "pg1" } })(origin, path);
  };
  await scripted.advance(6_000);
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "superseded");
  scripted.respond = cluster({ claims: ["pg2"], views: { pg1: "pg2", pg2: "pg2", pg3: "pg2" } });
  await scripted.advance(4_000);
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("requests the history after /cluster, from the same node, until it has the leader's timeline", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const sinceMs = scripted.nowMs;
  let history: unknown = [];
  scripted.respond = (origin, path) => {
    const name = new URL(origin).hostname;
    if (path === "/history") return jsonReply(history);
    if (path !== "/leader") return healthyCluster(["pg2", "pg1", "pg3"])(origin, path);
    return jsonReply(
      statusDocument(name, name === "pg2" ? { role: "primary", timeline: 2 } : { timeline: 2 }),
      name === "pg2" ? 200 : 503,
    );
  };
  await scripted.advance(9_000);
  const requests = scripted.sent.filter(({ atMs, url }) => atMs > sinceMs && url.endsWith("/history"));
  assert.ok(requests.length >= 4, `${requests.length} times`);
  for (const { url, atMs } of requests) {
    const before = scripted.sent.findLast(
      (request) => request.atMs <= atMs && request.url === url.replace("/history", "/cluster"),
    );
    assert.ok(before !== undefined && atMs - before.atMs <= 50, url);
  }
  history = [[1, 4_000, "no recovery target specified"]];
  await scripted.advance(3_500);
  const known = scripted.sentAt("/history").length;
  await scripted.advance(9_000);
  assert.equal(scripted.sentAt("/history").length, known);
  prober.stop();
});

test("a document that hangs delays neither probes nor the next round of the other nodes", async (context) => {
  const { scripted, prober } = await quietCluster(context);
  const sinceMs = scripted.nowMs;
  const disputed = cluster({ claims: ["pg1", "pg2"], views: { pg1: "pg1", pg2: "pg1", pg3: "pg1" } });
  scripted.respond = (origin, path) =>
    path === "/cluster" && origin.includes("pg3") ? neverReplies() : disputed(origin, path);
  await scripted.advance(6_000);
  assert.ok(roundsAfter(scripted, sinceMs, ["pg1", "pg2"]).length >= 3);
  assert.equal(viewsAfter(scripted, sinceMs)["pg3"]?.length, 1, "one request in flight");
  assert.equal(scripted.fixture.judge("pg2", "primary", scripted.nowMs), "superseded");
  prober.stop();
});
