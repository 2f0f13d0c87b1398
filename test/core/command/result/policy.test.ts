import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exitCodeOf } from "../../../../src/core/command/result/builder.ts";
import type { Diagnostic } from "../../../../src/core/command/result/document.ts";
import { readPolicy } from "../../../../src/core/command/result/policy-file.ts";
import { applyPolicy } from "../../../../src/core/command/result/policy.ts";
import { conformsToResultSchema } from "../../../fake/result-document.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

const folder = temporaryFolder("policy");
const nowMs = Date.parse("2026-06-01T00:00:00Z");
const review = "reason: known and harmless, reviewed_by: operator, reviewed_at: 2026-01-31T12:00:00Z";

const off: Diagnostic = {
  rule_id: "RC110",
  severity: "warning",
  message: "guard off",
  action: "",
  location: { file: "/etc/r.yaml", pointer: "/clusters/0/guards/same_system" },
};
const dead: Diagnostic = { rule_id: "RC100", severity: "error", message: "pg3 is dead", action: "" };
const open: Diagnostic = { rule_id: "RC003", severity: "error", message: "not done", action: "", incomplete: true };

let files = 0;
function apply(text: string, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const file = join(folder, `${(files += 1)}.yaml`);
  writeFileSync(file, text);
  const reviewed = applyPolicy(readPolicy(file), diagnostics, nowMs);
  const document = {
    schema_version: "cli.result/v1",
    version: "1",
    command: "doctor",
    exit_code: exitCodeOf(reviewed),
    diagnostics: reviewed,
    coverage: [],
    evidence: [],
  };
  assert.ok(conformsToResultSchema(JSON.parse(JSON.stringify(document))));
  return reviewed;
}

const one = (fields: string): string => `dispositions:\n  - { ${fields} }\n`;

test("keeps an excluded finding listed with its review, without failing the command", () => {
  const reviewed = apply(one(`rule_id: RC100, disposition: excluded, ${review}`), [dead]);
  assert.equal(reviewed.length, 1);
  assert.equal(reviewed[0]?.severity, "error");
  assert.equal(reviewed[0].disposition, "excluded");
  assert.deepEqual(reviewed[0].review, {
    reason: "known and harmless",
    reviewed_by: "operator",
    reviewed_at: "2026-01-31T12:00:00.000Z",
  });
  assert.equal(exitCodeOf(reviewed), 0);
});

test("lowers the severity of a finding, and never raises it", () => {
  const lowered = apply(one(`rule_id: RC100, disposition: warning, ${review}`), [dead]);
  assert.equal(lowered[0]?.severity, "warning");
  const info = apply(one(`rule_id: RC110, disposition: warning, ${review}`), [{ ...off, severity: "info" }]);
  assert.equal(info[0]?.severity, "info");
});

test("reports an attempt to lower or exclude a finding about incomplete work", () => {
  for (const effect of ["excluded", "warning", "info"]) {
    const reviewed = apply(one(`rule_id: RC003, disposition: ${effect}, ${review}`), [open]);
    assert.deepEqual(reviewed[0], open);
    assert.equal(reviewed[1]?.rule_id, "RC013");
    assert.equal(exitCodeOf(reviewed), 2);
  }
});

test("applies a disposition only to findings at its location", () => {
  for (const [place, isMatch] of [
    ["file: r.yaml", true],
    ["file: /etc/r.yaml, pointer: /clusters/0/guards/same_system", true],
    ["file: other.yaml", false],
    ["file: yaml", false],
    ["pointer: /clusters/1/guards/same_system", false],
    ["file: r.yaml, line: 3", false],
    ["kind: source", false],
  ] as const) {
    const reviewed = apply(one(`rule_id: RC110, disposition: excluded, location: { ${place} }, ${review}`), [off]);
    assert.equal(reviewed[0]?.disposition === "excluded", isMatch, place);
  }
});

test("ignores an expired review, and reports it", () => {
  const reviewed = apply(one(`rule_id: RC100, disposition: excluded, ${review}, expires_at: 2026-05-31T00:00:00Z`), [
    dead,
  ]);
  assert.deepEqual(
    reviewed.map(({ rule_id: id, disposition }) => [id, disposition]),
    [
      ["RC100", undefined],
      ["RC012", undefined],
    ],
  );
  assert.equal(
    apply(one(`rule_id: RC100, disposition: excluded, ${review}, expires_at: 2026-06-02T00:00:00Z`), [dead]).length,
    1,
  );
});

test("reports an unknown rule with its line in the policy", () => {
  const [finding] = apply(one(`rule_id: RC999, disposition: excluded, ${review}`), []);
  assert.equal(finding?.rule_id, "RC011");
  assert.equal(finding.location?.line, 2);
});

const broken: readonly (readonly [string, string])[] = [
  ["no list", "rules: []"],
  ["broken YAML", "dispositions: ["],
  ["an entry that is not a mapping", "dispositions: [1]"],
  ["an unknown key", one(`rule_id: RC100, disposition: excluded, ${review}, why: x`)],
  ["no reason", one("rule_id: RC100, disposition: excluded, reviewed_by: x, reviewed_at: 2026-01-31T12:00:00Z")],
  [
    "an empty reviewer",
    one("rule_id: RC100, disposition: excluded, reason: r, reviewed_by: ' ', reviewed_at: 2026-01-31T12:00:00Z"),
  ],
  [
    "an invalid timestamp",
    one("rule_id: RC100, disposition: excluded, reason: r, reviewed_by: x, reviewed_at: yesterday"),
  ],
  ["an unknown disposition", one(`rule_id: RC100, disposition: ignored, ${review}`)],
  ["a location that is a text", one(`rule_id: RC100, disposition: excluded, location: here, ${review}`)],
];
for (const [fault, text] of broken) {
  test(`does not apply a policy with ${fault}, and marks the run as incomplete`, () => {
    const reviewed = apply(text, [dead]);
    assert.equal(reviewed[0]?.disposition, undefined);
    assert.equal(reviewed[1]?.rule_id, "RC010");
    assert.equal(exitCodeOf(reviewed), 2);
  });
}

test("reports a missing policy file", () => {
  assert.equal(readPolicy(join(folder, "absent.yaml")).problems[0]?.rule_id, "RC010");
});
