import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHistory } from "../../../../src/core/cluster/documents/history.ts";

test("parseHistory maps each timeline to its end, from rows of four or five fields", () => {
  const rows = [
    [1, 4_000, "reason", "2026-01-01T00:00:00+00:00"],
    [2, 9_000, "reason", "2026-01-02T00:00:00+00:00", "pg2"],
    [],
    "x",
    [3],
    [-1, 5],
  ];
  assert.deepEqual(
    parseHistory(rows),
    new Map([
      [1, 4_000],
      [2, 9_000],
    ]),
  );
  assert.equal(parseHistory({}), undefined);
});
