/** Codes of failures are a label of metrics: a server that answers any code must not make a series of each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FailureCodes } from "../../../src/features/canary/failure-codes.ts";

test("64 codes keep their names, all further ones are `other`", () => {
  const codes = new FailureCodes();
  const names = Array.from({ length: 64 }, (_, at) => `C${at}`);
  assert.deepEqual(
    names.map((name) => codes.labelOf(name)),
    names,
  );
  assert.equal(codes.labelOf("C64"), "other");
  assert.equal(codes.labelOf("C65"), "other");
  assert.equal(codes.labelOf("C0"), "C0");
});
