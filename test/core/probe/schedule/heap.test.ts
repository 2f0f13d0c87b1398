import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Heap } from "../../../../src/core/probe/schedule/heap.ts";

test("the first element is the least one, whatever was added and removed before", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(null)), { maxLength: 60 }), (steps) => {
      const heap = new Heap<number>((one, other) => one < other);
      const model: number[] = [];
      for (const step of steps) {
        if (step === null) {
          heap.removeFirst();
          model.shift();
        } else {
          heap.add(step);
          model.push(step);
          model.sort((one, other) => one - other);
        }
        assert.equal(heap.first, model[0]);
      }
      heap.clear();
      assert.equal(heap.first, undefined);
    }),
  );
});
