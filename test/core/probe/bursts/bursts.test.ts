import assert from "node:assert/strict";
import { test } from "node:test";
import { between, healthy, leaderless, names, probing } from "../../../fake/burst-probing.ts";
import { failedReply, healthyCluster, neverReplies } from "../../../fake/fake-transport.ts";

test("a cluster in which nothing changes is never probed in a burst", async (context) => {
  const { scripted, causes, sentTo } = probing(context);
  await scripted.advance(20_000);
  sentTo("pg2");
  await scripted.advance(20_000);
  between(sentTo("pg2"), 18, 22);
  assert.deepEqual(causes, []);
});

test("while nobody holds the lock all nodes are probed every 250 ms, for 10 s", async (context) => {
  const { scripted, causes, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = leaderless;
  await scripted.advance(1_100);
  names.forEach(sentTo);
  await scripted.advance(5_000);
  for (const name of names) between(sentTo(name), 19, 21);
  await scripted.advance(5_500);
  names.forEach(sentTo);
  await scripted.advance(20_000);
  for (const name of names) between(sentTo(name), 18, 23);
  assert.deepEqual(causes, ["no_holder"]);
});

test("after another claim stands the nodes are probed every 250 ms for 2 s more", async (context) => {
  const { scripted, causes, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = leaderless;
  await scripted.advance(2_000);
  scripted.respond = healthyCluster(["pg2", "pg1", "pg3"]);
  await scripted.advance(300);
  assert.deepEqual(causes, ["no_holder", "new_claim"]);
  sentTo("pg3");
  await scripted.advance(1_500);
  between(sentTo("pg3"), 5, 8);
  await scripted.advance(1_000);
  sentTo("pg3");
  await scripted.advance(10_000);
  between(sentTo("pg3"), 9, 11);
});

test("the first claim that rolecall sees is no change of leader", async (context) => {
  const { scripted, causes } = probing(context, leaderless);
  await scripted.advance(5_000);
  assert.deepEqual(causes, []);
});

test("a hint begins a burst of 5 s, and hints without end do not burst without end", async (context) => {
  const { scripted, prober, causes, sentTo } = probing(context);
  await scripted.advance(3_000);
  prober.hint(null);
  sentTo("pg2");
  await scripted.advance(4_500);
  between(sentTo("pg2"), 17, 20);
  await scripted.advance(1_500);
  sentTo("pg2");
  await scripted.advance(5_000);
  between(sentTo("pg2"), 4, 6);
  assert.deepEqual(causes, ["hint"]);
  for (let time = 0; time < 1_200; time += 1) {
    prober.hint(null);
    await scripted.advance(100);
  }
  // A probe a second, three more in each second of a burst, and a round at the beginning of each.
  between(sentTo("pg2"), 120 + 20 * 3, 120 + 30 * 3 + 10);
  const documents = scripted.sent.filter(({ url }) => url.endsWith("/cluster")).length;
  await scripted.advance(30_000);
  prober.hint(null);
  await scripted.advance(200);
  assert.equal(prober.hint(null), "spent");
  assert.ok(documents < 100, `hints requested ${documents} documents`);
});

test("the burst of a hint ends when another claim stands, 2 s later at most", async (context) => {
  const { scripted, prober, sentTo } = probing(context);
  await scripted.advance(3_000);
  prober.hint(null);
  scripted.respond = healthyCluster(["pg2", "pg1", "pg3"]);
  await scripted.advance(2_500);
  sentTo("pg3");
  await scripted.advance(2_000);
  between(sentTo("pg3"), 1, 3);
});

test("a node that hangs has one request in flight, however long the burst", async (context) => {
  const { scripted, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = (origin, path) =>
    origin.includes("pg3") && path === "/leader" ? neverReplies() : leaderless(origin, path);
  await scripted.advance(1_000);
  names.forEach(sentTo);
  await scripted.advance(5_000);
  assert.ok(sentTo("pg3") <= 1);
  between(sentTo("pg2"), 19, 21);
});

test("failures within a burst count once an interval: a node is not down sooner", async (context) => {
  const { scripted } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = (origin, path) => (origin.includes("pg3") ? failedReply("reset") : leaderless(origin, path));
  await scripted.advance(1_900);
  assert.equal(scripted.fixture.cluster.nodes.find(({ node }) => node.name === "pg3")?.isDown, false);
  await scripted.advance(2_000);
  assert.equal(scripted.fixture.cluster.nodes.find(({ node }) => node.name === "pg3")?.isDown, true);
});

test("a cluster that flaps uses 60 s of bursts in 10 minutes", async (context) => {
  const { scripted, sentTo } = probing(context);
  await scripted.advance(3_000);
  sentTo("pg2");
  for (let time = 0; time < 50; time += 1) {
    scripted.respond = time % 2 === 0 ? leaderless : healthy;
    await scripted.advance(12_000);
  }
  // A probe a second, three more in each second of a burst, and a round at each change.
  between(sentTo("pg2"), 600, 600 + 60 * 3 + 4 * 50);
});
