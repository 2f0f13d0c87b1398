import assert from "node:assert/strict";
import { test } from "node:test";
import { Fifo } from "../../../../src/core/probe/schedule/fifo.ts";

test("gives back what came first, also after many were removed", () => {
  const fifo = new Fifo<number>();
  fifo.removeFirst();
  assert.equal(fifo.first, undefined);
  let next = 0;
  for (let at = 0; at < 10_000; at += 1) {
    fifo.push(at);
    if (at % 3 === 0) continue;
    assert.equal(fifo.first, next);
    fifo.removeFirst();
    next += 1;
  }
  for (; next < 10_000; next += 1) {
    assert.equal(fifo.first, next);
    fifo.removeFirst();
  }
  assert.equal(fifo.first, undefined);
  fifo.push(1);
  fifo.clear();
  assert.equal(fifo.first, undefined);
});
