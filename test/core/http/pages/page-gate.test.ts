import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { renderSliced } from "../../../../src/core/http/pages/rendering.ts";
import { PageGate, PageTurn } from "../../../../src/core/http/pages/page-gate.ts";

const turnOf = (): PageTurn => {
  const entry = new PageGate().enter("test");
  assert.ok(entry instanceof PageTurn);
  return entry;
};

function* endless(text: string): Generator<string> {
  for (;;) yield text;
}

describe("rendering in slices", () => {
  test("yields the event loop between slices, and stops when the client disconnects", async () => {
    const left = new AbortController();
    const rendering = renderSliced(endless("x"), { turn: turnOf(), signal: left.signal }, []);
    for (let turns = 0; turns < 100; turns += 1) await turn();
    left.abort();
    assert.equal(await rendering, null);
  });

  test("returns an error if a page becomes too large", async () => {
    const reply = await renderSliced(
      endless("x".repeat(1024 * 1024)),
      { turn: turnOf(), signal: new AbortController().signal },
      [],
    );
    assert.equal(reply?.status, 503);
    assert.match(String(reply?.body), /page_too_large/);
  });

  test("keeps the order of the pieces", async () => {
    const pieces = Array.from({ length: 20_000 }, (_, at) => `${at}\n`);
    const reply = await renderSliced(pieces, { turn: turnOf(), signal: new AbortController().signal }, ["A", "b"]);
    assert.equal(Buffer.concat([...(reply?.pieces ?? [])]).toString(), pieces.join(""));
    assert.deepEqual(reply?.headers, ["Cache-Control", "no-store", "A", "b"]);
  });
});

describe("a page gate", () => {
  test("delays an expensive page, and does not delay other pages", () => {
    let nowMs = 0;
    const gate = new PageGate(() => nowMs);
    const first = gate.enter("incident");
    assert.ok(first instanceof PageTurn);
    assert.deepEqual(gate.enter("incident"), { retryAfterS: 1 });
    first.charge(1_000);
    first.leave();
    first.leave();
    assert.deepEqual(gate.enter("incident"), { retryAfterS: 10 });
    assert.ok(gate.enter("status") instanceof PageTurn);
    nowMs = 9_999;
    assert.deepEqual(gate.enter("incident"), { retryAfterS: 1 });
    nowMs = 10_005;
    assert.ok(gate.enter("incident") instanceof PageTurn);
  });

  test("allows several renderings at a time if configured", () => {
    const gate = new PageGate(() => 0);
    assert.ok(gate.enter("metrics", 2) instanceof PageTurn);
    assert.ok(gate.enter("metrics", 2) instanceof PageTurn);
    assert.ok(!(gate.enter("metrics", 2) instanceof PageTurn));
  });
});
