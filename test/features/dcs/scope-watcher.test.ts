import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { DcsResult } from "../../../src/core/cluster/dcs.ts";
import { EtcdSource } from "../../../src/features/dcs/etcd-source.ts";
import { ScopeWatcher } from "../../../src/features/dcs/scope-watcher.ts";
import { FakeEtcd } from "../../fake/fake-etcd.ts";
import { until } from "../../fake/until.ts";

const leaderKey = "/service/demo/leader";

/** A watcher of fake etcd members, with what it reported. */
interface Watched {
  readonly etcd: FakeEtcd;
  /** The leader of each read that was reported; the kind of a failure. */
  readonly results: string[];
  readonly hints: (string | null)[];
  readonly ends: string[];
  readonly reads: string[];
  readonly last: () => DcsResult | undefined;
}

async function watched(
  context: TestContext,
  { count = 1, auth = null, timeoutMs = 5_000 }: { count?: number; auth?: Auth; timeoutMs?: number } = {},
): Promise<Watched & { readonly others: readonly FakeEtcd[] }> {
  const members = await Promise.all(Array.from({ length: count }, () => FakeEtcd.start()));
  const [etcd, ...others] = members;
  assert.ok(etcd !== undefined);
  for (const member of members) member.put(leaderKey, "pg1");
  const endpoints = members.map(({ url }) => url);
  const source = new EtcdSource({ endpoints, prefix: "/service", scope: "demo" }, { tls: {}, auth }, timeoutMs);
  const results: DcsResult[] = [];
  const found = { hints: [] as (string | null)[], ends: [] as string[], reads: [] as string[], texts: [] as string[] };
  const watcher = new ScopeWatcher(source, {
    now: () => performance.now(),
    random: () => 0.5,
    onResult: (result) => {
      results.push(result);
      found.texts.push("read" in result ? (result.read.leader ?? "nobody") : result.failure.kind);
    },
    onHint: (member) => void found.hints.push(member),
    onRead: (outcome) => void found.reads.push(outcome),
    onWatchEnd: ({ cause }) => void found.ends.push(cause),
  });
  context.after(async () => {
    watcher.stop();
    await Promise.all(members.map((member) => member.close()));
  });
  watcher.start();
  return {
    etcd,
    others,
    results: found.texts,
    hints: found.hints,
    ends: found.ends,
    reads: found.reads,
    last: () => results.at(-1),
  };
}

type Auth = { readonly user: string; readonly password: string } | null;

/** Waits until the watcher has read a leader and watches. */
async function steady({ etcd, results }: Watched): Promise<void> {
  await until("a watch", () => results.length > 0 && etcd.watchCount === 1);
}

describe("a watch of a scope", { concurrency: true }, () => {
  test("hints at each change of the leader key at once, and reports the read that confirms it", async (context) => {
    const of = await watched(context);
    await steady(of);
    of.etcd.put(leaderKey, "pg2");
    await until("pg2", () => of.results.at(-1) === "pg2");
    of.etcd.delete(leaderKey);
    await until("nobody", () => of.results.at(-1) === "nobody");
    assert.deepEqual(of.results, ["pg1", "pg2", "nobody"]);
    assert.deepEqual(of.hints, ["pg2", null]);
    assert.deepEqual(of.ends, []);
  });

  test("hints at other keys that change, not at positions of members and not at foreign keys", async (context) => {
    const of = await watched(context);
    await steady(of);
    for (const position of [1, 2])
      of.etcd.put("/service/demo/members/pg1", JSON.stringify({ role: "primary", xlog_location: position }));
    of.etcd.put("/service/demo/status", "{}");
    of.etcd.put("/service/other/leader", "pg9");
    of.etcd.put("/service/demo/sync", "{}");
    await until("a hint", () => of.hints.length > 0);
    of.etcd.put("/service/demo/members/pg1", JSON.stringify({ role: "replica" }));
    await until("another hint", () => of.hints.length > 1);
    assert.deepEqual(of.hints, [null, null]);
    assert.deepEqual(of.results, ["pg1"]);
  });

  test("reports a change that the watch does not announce, and opens another watch", async (context) => {
    const of = await watched(context);
    await steady(of);
    of.etcd.faults.losesEvents = true;
    of.etcd.delete(leaderKey);
    await until("nobody", () => of.results.at(-1) === "nobody");
    of.etcd.faults.losesEvents = false;
    await until({ what: "another watch", seconds: 10 }, () => of.ends.includes("missed") && of.etcd.watchCount === 1);
    assert.deepEqual(of.hints, [null]);
  });

  test("goes on after a compaction, a cut connection and half a line", async (context) => {
    const of = await watched(context);
    await steady(of);
    of.etcd.faults.isCompacted = true;
    of.etcd.cut();
    await until("a compaction", () => of.ends.includes("compacted"));
    await steady(of);
    of.etcd.say('{"result": {"events": [{"kv"');
    of.etcd.cut();
    await until("another end", () => of.ends.length > 2);
    await until("a watch", () => of.etcd.watchCount === 1);
    of.etcd.faults.splits = true;
    of.etcd.put(leaderKey, "pg3");
    await until("pg3", () => of.results.at(-1) === "pg3");
  });

  for (const [what, text] of [
    ["no JSON", "<html>\n"],
    ["JSON that is no message", "[1, 2]\n"],
    ["an error", '{"error": {"message": "etcdserver: no leader", "http_code": 503}}\n'],
    ["a line without an end", "x".repeat(1_100_000)],
  ] as const)
    test(`opens another watch after ${what}`, async (context) => {
      const of = await watched(context);
      await steady(of);
      of.etcd.say(text);
      await until("an end", () => of.ends.length > 0);
      await until("another watch", () => of.etcd.calls.filter((path) => path === "/v3/watch").length > 1);
      assert.deepEqual(of.ends, [what === "an error" ? "cancelled" : "garbage"]);
      assert.deepEqual(of.results, ["pg1"]);
    });

  test("turns to another member if one hangs, without a failure", async (context) => {
    const of = await watched(context, { count: 3, timeoutMs: 500 });
    await steady(of);
    of.etcd.faults.isHung = true;
    const [second] = of.others;
    await until("a watch of the second member", () => second?.watchCount === 1);
    assert.deepEqual([of.results, of.etcd.watchCount], [["pg1"], 0]);
    second?.put(leaderKey, "pg2");
    await until("pg2", () => of.results.at(-1) === "pg2");
  });

  test("reports once that no member answers, and the first answer after that", async (context) => {
    const of = await watched(context, { timeoutMs: 500 });
    await steady(of);
    of.etcd.faults.isHung = true;
    await until({ what: "failures", seconds: 15 }, () => of.reads.filter((read) => read === "failed").length > 3);
    assert.deepEqual(of.results, ["pg1", "timeout"]);
    of.etcd.faults.isHung = false;
    await until({ what: "an answer", seconds: 15 }, () => of.results.length === 3);
    assert.deepEqual(of.results, ["pg1", "timeout", "pg1"]);
  });

  for (const [what, text] of [
    ["no JSON", "<html>"],
    ["no range response", '{"kvs": []}'],
    ["a revision that is no number", '{"header": {"cluster_id": "1", "revision": "many"}}'],
    [
      "a leader with control characters",
      `{"header": {"cluster_id": "1", "revision": "5"}, "kvs": [{"value": "${Buffer.from("a\n").toString("base64")}"}]}`,
    ],
    ["too much", "x".repeat(300_000)],
  ] as const)
    test(`takes a read with ${what} as a failure`, async (context) => {
      const of = await watched(context);
      await steady(of);
      of.etcd.faults.garbage = text;
      of.etcd.cut();
      await until({ what: "a failure", seconds: 10 }, () => of.results.length > 1);
      assert.deepEqual(of.results, ["pg1", what === "too much" ? "too_large" : "body"]);
    });

  test("gets another token once etcd has forgotten the first, and says which user is refused", async (context) => {
    const of = await watched(context, { auth: { user: "rolecall", password: "secret" } });
    of.etcd.faults.token = "unknown";
    await steady(of);
    of.etcd.faults.token = "another";
    of.etcd.cut();
    await until("another token", () => of.etcd.calls.filter((path) => path.endsWith("/authenticate")).length > 1);
    await steady(of);
    const refused = await watched(context, { auth: { user: "rolecall", password: "wrong" } });
    await until("a refusal", () => refused.results.length > 0);
    const result = refused.last();
    assert.ok(result !== undefined && "failure" in result);
    assert.match(result.failure.detail, /^etcd refuses user rolecall: status 400, authentication failed/);
  });

  test("tells a scope without any key from one without a leader", async (context) => {
    const of = await watched(context);
    await steady(of);
    of.etcd.put("/service/demo/config", "{}");
    of.etcd.delete(leaderKey);
    await until("nobody", () => of.results.at(-1) === "nobody");
    const before = of.last();
    of.etcd.delete("/service/demo/config");
    of.etcd.cut();
    await until("an empty scope", () => of.results.length === 3);
    const now = of.last();
    assert.ok(before !== undefined && "read" in before && now !== undefined && "read" in now);
    assert.deepEqual([before.read.hasScope, now.read.hasScope], [true, false]);
  });
});
