import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { scriptedWatch } from "./scripted-source.ts";

suite("the pace of the reads of a scope", () => {
  test("without an event there is a read every 3 s", async (context) => {
    const { source, pass } = await scriptedWatch(context);
    await pass(10_000);
    assert.deepEqual(source.readsMs, [0, 3_000, 6_000, 9_000]);
  });

  test("an event of the leader key is read at once, also right after another read", async (context) => {
    const { source, results, pass } = await scriptedWatch(context);
    await pass(3_000);
    assert.equal(source.readsMs.length, 2);
    source.leader = "pg2";
    source.announce({ kind: "leader", names: "pg2" });
    await pass(10);
    assert.deepEqual(results, ["pg1", "pg2"]);
  });

  test("events without end cause no more than a read every 5 ms, of other keys one every 50 ms", async (context) => {
    for (const [kind, most] of [
      ["leader", 201],
      ["other", 21],
    ] as const) {
      const { source, pass } = await scriptedWatch(context);
      const before = source.readsMs.length;
      for (let at = 0; at < 1_000; at += 1) {
        source.announce(kind === "leader" ? { kind, names: "pg1" } : { kind, key: "sync" });
        await pass(1);
      }
      const reads = source.readsMs.length - before;
      assert.ok(reads <= most && reads >= most - 2, `${kind}: ${reads} reads`);
      context.mock.timers.reset();
    }
  });

  for (const servers of [1, 3])
    test(`a leader that was announced and cannot be read is tried every 50 ms for 2 s (servers: ${servers})`, async (context) => {
      const { source, results, pass } = await scriptedWatch(context, servers);
      source.isDown = true;
      source.announce({ kind: "leader", names: "pg2" });
      const before = source.readsMs.length;
      await pass(1_000);
      const reads = source.readsMs.length - before;
      assert.ok(reads >= 18 && reads <= 25, `${reads} reads in 1 s`);
      assert.deepEqual(results, ["pg1", "timeout"]);
      source.isDown = false;
      source.leader = "pg2";
      await pass(60);
      assert.deepEqual(results, ["pg1", "timeout", "pg2"]);
    });

  test("after 2 s the pause grows from where it was before", async (context) => {
    const { source, pass } = await scriptedWatch(context);
    source.isDown = true;
    source.announce({ kind: "leader", names: "pg2" });
    await pass(2_100);
    const before = source.readsMs.length;
    await pass(4_000);
    const later = source.readsMs.slice(before);
    assert.ok(later.length >= 2 && later.length <= 4, `reads at ${later.join(", ")} ms`);
  });

  test("a leader that was read before it was announced is not tried so often", async (context) => {
    const { source, pass } = await scriptedWatch(context);
    source.isDown = true;
    source.announce({ kind: "leader", names: "pg1" });
    const before = source.readsMs.length;
    await pass(1_000);
    assert.ok(source.readsMs.length - before <= 4, `${source.readsMs.length - before} reads in 1 s`);
  });

  test("each server is tried at once, and all of them again after a pause that grows", async (context) => {
    const { source, results, pass } = await scriptedWatch(context, 3);
    source.isDown = true;
    await pass(20_000);
    const [first = 0, ...later] = source.readsMs.slice(1).map((atMs) => atMs - 3_000);
    assert.equal(first, 0);
    assert.ok((later[1] ?? Infinity) <= 5, `the three servers were tried by ${later[1]} ms`);
    assert.ok((later[2] ?? 0) >= 250, `the next round came after ${later[2]} ms`);
    assert.ok(source.readsMs.length < 15, `${source.readsMs.length} reads in 20 s`);
    assert.deepEqual(results, ["pg1", "timeout"]);
    source.isDown = false;
    await pass(6_000);
    assert.deepEqual(results, ["pg1", "timeout", "pg1"]);
  });
});
