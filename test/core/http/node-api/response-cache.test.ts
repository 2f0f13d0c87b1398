import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ResponseCache, type CachedResponse } from "../../../../src/core/http/node-api/response-cache.ts";

/** Counts the renderings of a response. A test sets the revision. */
function countedCache(): {
  readonly cache: ResponseCache;
  readonly state: { revision: number; nowMs: number; rendered: number; given: number };
} {
  const state = { revision: 1, nowMs: 0, rendered: 0, given: 0 };
  const count = (): void => void (state.given += 1);
  const render = (text: string): CachedResponse | null => {
    if (text.startsWith("unusual")) return null;
    state.rendered += 1;
    const { revision, nowMs } = state;
    return {
      bytes: Buffer.from(text),
      keepsConnection: true,
      request: { method: "GET", target: "/", host: undefined, nodeHeader: undefined, serverState: undefined },
      cluster: "demo",
      revision,
      validUntilMs: nowMs + 100,
      count,
    };
  };
  return { cache: new ResponseCache({ revision: () => state.revision, now: () => state.nowMs, render }), state };
}

suite("the response cache", () => {
  test("renders a repeated request twice, and then keeps the response", () => {
    const { cache, state } = countedCache();
    for (let time = 0; time < 10; time += 1) cache.find("check");
    assert.deepEqual([state.rendered, state.given], [2, 10]);
  });

  test("renders again when the revision changes, and when the response is no longer valid", () => {
    const { cache, state } = countedCache();
    for (let time = 0; time < 3; time += 1) cache.find("check");
    state.revision += 1;
    cache.find("check");
    assert.equal(state.rendered, 3);
    state.nowMs += 100;
    cache.find("check");
    assert.equal(state.rendered, 4);
  });

  test("never keeps a request that cannot be rendered", () => {
    const { cache } = countedCache();
    assert.deepEqual([cache.find("unusual"), cache.find("unusual"), cache.size], [null, null, 0]);
  });

  test("keeps nothing and drops nothing for a scanner that never repeats a request", () => {
    const { cache, state } = countedCache();
    cache.find("check");
    cache.find("check");
    for (let at = 0; at < 20_000; at += 1) cache.find(`scan ${at}`);
    const { rendered } = state;
    cache.find("check");
    assert.deepEqual([cache.size, state.rendered - rendered], [1, 0]);
  });

  test("stays bounded, and keeps what is requested meanwhile, when a scanner repeats every request", () => {
    const { cache, state } = countedCache();
    cache.find("check");
    cache.find("check");
    for (let at = 0; at < 20_000; at += 1) {
      cache.find(`scan ${at}`);
      cache.find(`scan ${at}`);
      cache.find("check");
    }
    assert.equal(state.rendered, 2 + 40_000);
    assert.ok(cache.size < 6_000);
  });
});
