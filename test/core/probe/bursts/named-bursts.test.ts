import assert from "node:assert/strict";
import { test } from "node:test";
import { between, healthy, leaderless, names, probing } from "../../../fake/burst-probing.ts";
import { healthyCluster, jsonReply, type Responder } from "../../../fake/fake-transport.ts";
import { statusDocument } from "../../../fake/node-documents.ts";

test("a hint that names a node probes it alone, every 50 ms, until it is writable", async (context) => {
  const { scripted, prober, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = leaderless;
  await scripted.advance(50);
  prober.hint("pg2");
  names.forEach(sentTo);
  await scripted.advance(500);
  between(sentTo("pg2"), 9, 11);
  assert.ok(sentTo("pg3") <= 3);
  scripted.respond = healthyCluster(["pg2", "pg1", "pg3"]);
  await scripted.advance(4_000);
  sentTo("pg2");
  await scripted.advance(5_000);
  between(sentTo("pg2"), 4, 6);
});

/** The first node holds the lock, and its document says that it is a replica: it is being promoted. */
const promoting = (order: readonly string[]): Responder => {
  const next = healthyCluster(order);
  return (origin, path) =>
    path === "/leader" && origin.includes(order[0] ?? "")
      ? jsonReply(statusDocument(order[0] ?? ""), 200)
      : next(origin, path);
};

test("a node that claims the lock before its promotion is probed alone, every 50 ms, until it is writable", async (context) => {
  const { scripted, causes, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = leaderless;
  await scripted.advance(2_000);
  scripted.respond = promoting(["pg2", "pg1", "pg3"]);
  await scripted.advance(300);
  names.forEach(sentTo);
  await scripted.advance(1_000);
  between(sentTo("pg2"), 18, 21);
  between(sentTo("pg3"), 3, 5);
  scripted.respond = healthyCluster(["pg2", "pg1", "pg3"]);
  await scripted.advance(100);
  sentTo("pg2");
  await scripted.advance(1_000);
  between(sentTo("pg2"), 1, 5);
  assert.deepEqual(
    causes.filter((cause) => cause === "hint"),
    [],
  );
});

test("the burst of a node that is promoted for long ends after 10 s", async (context) => {
  const { scripted, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = leaderless;
  await scripted.advance(2_000);
  scripted.respond = promoting(["pg2", "pg1", "pg3"]);
  await scripted.advance(13_000);
  sentTo("pg2");
  await scripted.advance(5_000);
  between(sentTo("pg2"), 4, 6);
});

test("a named node that answers slowly is probed again as soon as it has answered", async (context) => {
  const { scripted, prober, sentTo } = probing(context);
  await scripted.advance(3_000);
  scripted.respond = (origin, path) =>
    new Promise((resolve) => {
      setTimeout(() => resolve(healthy(origin, path)), 60);
    });
  await scripted.advance(1_000);
  prober.hint("pg2");
  sentTo("pg2");
  await scripted.advance(1_400, 10);
  between(sentTo("pg2"), 19, 24);
});

test("hints that name a writable node, or the same node again, do nothing", async (context) => {
  const { scripted, prober, causes, sentTo } = probing(context);
  await scripted.advance(3_000);
  sentTo("pg1");
  assert.equal(prober.hint("pg1"), "writable");
  assert.equal(prober.hint("pg2"), "begun");
  assert.equal(prober.hint("pg2"), "running");
  for (let time = 0; time < 100; time += 1) prober.hint("pg1");
  await scripted.advance(1_000);
  assert.ok(sentTo("pg1") <= 2);
  assert.deepEqual(causes, ["hint"]);
});

test("nodes that hints name take turns: together they get a probe every 50 ms", async (context) => {
  const { scripted, prober, sentTo } = probing(context);
  await scripted.advance(3_000);
  sentTo("pg2");
  sentTo("pg3");
  for (let time = 0; time < 40; time += 1) {
    prober.hint(time % 2 === 0 ? "pg2" : "pg3");
    await scripted.advance(50);
  }
  const [pg2, pg3] = [sentTo("pg2"), sentTo("pg3")];
  between(pg2 + pg3, 38, 46);
  between(pg2, 18, 24);
});

test("hints that name a node without end leave half of the budget for changes that probes see", async (context) => {
  const { scripted, prober, causes, sentTo } = probing(context);
  await scripted.advance(3_000);
  for (let time = 0; time < 600; time += 1) {
    prober.hint("pg2");
    await scripted.advance(100);
  }
  assert.equal(prober.hint("pg2"), "spent");
  assert.equal(prober.hint(null), "spent");
  assert.ok(sentTo("pg2") <= 30 * 20 + 30 + 5);
  scripted.respond = leaderless;
  await scripted.advance(1_100);
  assert.equal(causes.at(-1), "no_holder");
  assert.equal(prober.hint("pg2"), "begun", "a hint during a change that probes see is always followed");
  sentTo("pg3");
  await scripted.advance(5_000);
  between(sentTo("pg3"), 19, 21);
});

test("a hint for a node that is never writable ends after 10 s, and one for an unknown node does nothing", async (context) => {
  const { scripted, prober, sentTo } = probing(context);
  await scripted.advance(3_000);
  prober.hint("pg2");
  prober.hint("pg9");
  await scripted.advance(10_100);
  sentTo("pg2");
  await scripted.advance(5_000);
  between(sentTo("pg2"), 4, 6);
});
