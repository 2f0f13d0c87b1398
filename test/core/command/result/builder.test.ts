import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ResultBuilder } from "../../../../src/core/command/result/builder.ts";
import { ruleIds } from "../../../../src/core/command/result/rule-ids.ts";
import { isResult } from "../../../../src/core/command/result/reader.ts";
import { conformsToResultSchema } from "../../../fake/result-document.ts";

const head = { version: "1.2.3", command: "doctor" };
const statuses = ["complete", "not_checked", "not_applicable", "incomplete", "unsupported"] as const;

const finding = fc.record(
  {
    message: fc.string(),
    action: fc.string(),
    severity: fc.constantFrom("info" as const, "warning" as const, "error" as const),
    incomplete: fc.boolean(),
    location: fc.record(
      { file: fc.string(), line: fc.oneof(fc.integer(), fc.double()), pointer: fc.string() },
      { requiredKeys: ["file"] },
    ),
  },
  { requiredKeys: ["message"] },
);

test("builds a conforming document with the right exit code from any findings", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...ruleIds), finding), { maxLength: 8 }),
      fc.array(fc.tuple(fc.string(), fc.constantFrom(...statuses), fc.boolean(), fc.string()), { maxLength: 8 }),
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withObjectString: true }),
      (findings, checks, data) => {
        const result = new ResultBuilder(head, [{ id: "work", required: true }]);
        for (const [id, content] of findings) result.diagnose(id, content);
        for (const [id, status, required, detail] of checks) result.cover(id, status, { detail, required });
        result.data = data;
        const document: unknown = JSON.parse(JSON.stringify(result.build()));
        assert.ok(conformsToResultSchema(document));
        assert.ok(isResult(document));
        assert.equal(result.build().exit_code, 2, "the required check work was never done");
      },
    ),
  );
});

test("adds an incomplete finding for each required check that did not complete", () => {
  for (const status of statuses) {
    const result = new ResultBuilder(head, [{ id: "work", required: true }]);
    result.cover("work", status, { detail: "a detail" });
    const { diagnostics, exit_code: code } = result.build();
    const isDone = status === "complete" || status === "not_applicable";
    assert.equal(code, isDone ? 0 : 2, status);
    assert.deepEqual(
      diagnostics.map(({ rule_id: id, incomplete }) => [id, incomplete]),
      isDone ? [] : [["RC003", true]],
    );
  }
});

test("exits with 1 only for findings of severity error", () => {
  for (const [severity, code] of [
    ["info", 0],
    ["warning", 0],
    ["error", 1],
  ] as const) {
    const result = new ResultBuilder(head, []);
    result.diagnose("RC051", { message: "x", severity });
    assert.equal(result.build().exit_code, code);
  }
});

test("limits the number of findings, and reports how many are missing", () => {
  const result = new ResultBuilder(head, []);
  for (let at = 0; at < 3_000; at += 1) result.diagnose("RC051", { message: "x".repeat(10_000) });
  const { diagnostics, exit_code: code } = result.build();
  assert.equal(diagnostics.length, 2_001);
  assert.equal(code, 2);
  assert.ok(JSON.stringify(diagnostics).length < 10_000_000);
});
