import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { ClusterProber } from "../../../src/probe/cluster-prober.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import {
  failedReply,
  FakeTransport,
  healthyCluster,
  jsonReply,
  neverReplies,
  type Responder,
} from "../../fake/fake-transport.ts";
import { statusDocument } from "../../fake/node-documents.ts";

const names = ["pg1", "pg2", "pg3"];
const healthy = healthyCluster(names);

interface Probing {
  readonly scripted: FakeTransport;
  readonly prober: ClusterProber;
  /** The causes of the bursts that began. */
  readonly causes: string[];
  /** How often a node's `/leader` was requested since the last call. */
  readonly sentTo: (node: string) => number;
}

function probing(context: TestContext, script: Responder = healthy): Probing {
  const watched = new ClusterFixture({ policy: { intervalMs: 1_000 } });
  const scripted = new FakeTransport(context, watched, script);
  const causes: string[] = [];
  const onBurst = ({ cause }: { readonly cause: string }): void => void causes.push(cause);
  const prober = new ClusterProber({ ...scripted.context(), onBurst }, []);
  scripted.onState = (before, after) => prober.onChange(before, after);
  void prober.start();
  context.after(() => prober.stop());
  const counted = new Map<string, number>();
  const sentTo = (node: string): number => {
    const all = scripted.sentAt(`${node}:8008/leader`).length;
    const fresh = all - (counted.get(node) ?? 0);
    counted.set(node, all);
    return fresh;
  };
  return { scripted, prober, causes, sentTo };
}

/** Nobody holds the lock: every node says that it is a running replica. */
const leaderless: Responder = (origin, path) =>
  path === "/leader" ? jsonReply(statusDocument(new URL(origin).hostname), 503) : healthy(origin, path);

const between = (value: number, min: number, max: number): void =>
  assert.ok(value >= min && value <= max, `${value} must be from ${min} to ${max}`);

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
