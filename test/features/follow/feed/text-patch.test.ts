import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import "../../../fake/property-seed.ts";
import { withPatch, patchOf } from "../../../../src/features/follow/feed/text-patch.ts";

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.stringMatching(/^[ab]{0,12}$/),
  fc.string({ unit: "binary" }),
);

test("a patch turns the one text into the other", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const patch: unknown = JSON.parse(JSON.stringify(patchOf(before, after)));
      assert.ok(Array.isArray(patch));
      const [prefix, suffix, middle] = patch;
      assert.equal(withPatch(before, [prefix, suffix, middle]), after);
    }),
  );
});

test("of two documents that differ in a position only that is in the patch", () => {
  const before = '{"role": "primary", "xlog": {"location": 100234}, "timeline": 4}';
  assert.deepEqual(patchOf(before, before.replace("100234", "100999")), [44, 17, "999"]);
});

test("a patch of another text is refused", () => {
  assert.equal(withPatch("short", [4, 4, "x"]), null);
});
