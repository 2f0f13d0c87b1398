import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ResponseCache, type CachedResponse } from "../../../src/http/node-api/response-cache.ts";

/** Answers whose making is counted, of facts that change when told. */
function counted(): {
  readonly hot: ResponseCache;
  readonly state: { facts: number; nowMs: number; made: number; given: number };
} {
  const state = { facts: 1, nowMs: 0, made: 0, given: 0 };
  const count = (): void => void (state.given += 1);
  const render = (text: string): CachedResponse | null => {
    if (text.startsWith("unusual")) return null;
    state.made += 1;
    const { facts, nowMs } = state;
    return {
      bytes: Buffer.from(text),
      keepsConnection: true,
      cluster: "demo",
      revision: facts,
      validUntilMs: nowMs + 100,
      count,
    };
  };
  return { hot: new ResponseCache({ revision: () => state.facts, now: () => state.nowMs, render }), state };
}

suite("hot answers", () => {
  test("what is asked again and again is made twice and then kept", () => {
    const { hot, state } = counted();
    for (let time = 0; time < 10; time += 1) hot.find("check");
    assert.deepEqual([state.made, state.given], [2, 10]);
  });

  test("an answer dies with the facts it came from, and at its horizon", () => {
    const { hot, state } = counted();
    for (let time = 0; time < 3; time += 1) hot.find("check");
    state.facts += 1;
    hot.find("check");
    assert.equal(state.made, 3);
    state.nowMs += 100;
    hot.find("check");
    assert.equal(state.made, 4);
  });

  test("what cannot be rendered is never kept", () => {
    const { hot } = counted();
    assert.deepEqual([hot.find("unusual"), hot.find("unusual"), hot.size], [null, null, 0]);
  });

  test("a scanner that never asks the same twice keeps nothing and drives out nothing", () => {
    const { hot, state } = counted();
    hot.find("check");
    hot.find("check");
    for (let at = 0; at < 20_000; at += 1) hot.find(`scan ${at}`);
    const { made } = state;
    hot.find("check");
    assert.deepEqual([hot.size, state.made - made], [1, 0]);
  });

  test("a scanner that asks everything twice cannot drive out what is asked meanwhile, nor grow without a bound", () => {
    const { hot, state } = counted();
    hot.find("check");
    hot.find("check");
    for (let at = 0; at < 20_000; at += 1) {
      hot.find(`scan ${at}`);
      hot.find(`scan ${at}`);
      hot.find("check");
    }
    assert.equal(state.made, 2 + 40_000);
    assert.ok(hot.size < 6_000);
  });
});
