import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { withDrains } from "../../../../src/core/health/observe/observe.ts";
import { exchange } from "../../../fake/raw-client.ts";
import { type TwoPaths, assertAlike, openTwoPaths } from "../../../fake/two-paths.ts";
import { corpus } from "./request-corpus.ts";

let paths: TwoPaths;
before(async () => {
  paths = await openTwoPaths();
});
after(() => paths.close());

suite("the fast path", () => {
  test("is on", () => assert.deepEqual(paths.offReasons, []));

  for (const [name, pieces] of Object.entries(corpus)) {
    test(`answers as node:http does: ${name}`, async () => {
      // Three requests: the first answer is rendered, the second is cached, and the third comes from the cache.
      for (let time = 0; time < 3; time += 1) await assertAlike(paths, pieces);
    });
  }

  test("keeps a connection open or closes it, as its request says", async () => {
    const fates = ["keep-alive", "close"].map(async (value) => {
      const check = Buffer.from(`GET /nodes/pg1/primary HTTP/1.1\r\nConnection: ${value}\r\n\r\n`);
      return (await exchange(paths.fastPort, [check])).fate;
    });
    assert.deepEqual(await Promise.all(fates), ["open", "closed"]);
  });

  test("caches a request when it comes a second time", async () => {
    const check = Buffer.from("GET /nodes/pg3/replica HTTP/1.1\r\nHost: twice\r\n\r\n");
    const { size } = paths.cache;
    await exchange(paths.fastPort, [check]);
    assert.equal(paths.cache.size, size);
    await exchange(paths.fastPort, [check]);
    assert.equal(paths.cache.size, size + 1);
  });

  test("shows a drain in the next answer, before another probe", async () => {
    const { cluster, fastPort } = paths;
    const check = Buffer.from("GET /nodes/pg2/replica HTTP/1.1\r\nHost: drained\r\n\r\n");
    for (let time = 0; time < 3; time += 1)
      assert.match((await exchange(fastPort, [check])).bytes, /^HTTP\/1\.1 200 OK\r\n/);
    const state = cluster.state();
    const policy = cluster.store.policyOf("demo");
    assert.ok(policy !== undefined);
    const drain = { reason: "work", by: null, extent: "replica" as const, untilMs: Infinity, since: "", until: "" };
    cluster.store.replace([{ cluster: withDrains(state, "pg2", { drain, nowMs: cluster.nowMs }), policy }]);
    assert.match((await exchange(fastPort, [check])).bytes, /^HTTP\/1\.1 503 drained work\r\n/);
    cluster.store.replace([{ cluster: state, policy }]);
  });

  test("counts requests, and fallbacks by reason", async () => {
    const earlier = paths.counts();
    const check = "GET /nodes/pg1/primary HTTP/1.1\r\nHost: counted\r\n\r\n";
    const pieces = [check, check, `GET /readyz HTTP/1.1\r\n\r\n`].map((piece) => Buffer.from(piece));
    await exchange(paths.fastPort, pieces);
    await exchange(paths.fastPort, [Buffer.from(`GET /livez HTTP/1.1\r\nX: ${"a".repeat(6_000)}\r\n\r\n`)]);
    const { requests, fallbacks, trips } = paths.counts();
    assert.equal(requests - earlier.requests, 2);
    assert.equal(fallbacks.not_cached - earlier.fallbacks.not_cached, 1);
    assert.equal(fallbacks.too_long - earlier.fallbacks.too_long, 1);
    assert.equal(trips, 0);
  });
});
