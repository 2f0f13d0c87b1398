import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { rejectionFor, rejectionReasons } from "../../src/core/http/admission/rejection.ts";

test("docs/rejected.md lists every reason with its status, and no other", () => {
  const page = readFileSync("docs/rejected.md", "utf8");
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, reason, status]) => `${reason} ${status}`);
  assert.deepEqual(
    listed.toSorted(),
    rejectionReasons.map((reason) => `${reason} ${rejectionFor(reason).status}`).toSorted(),
  );
});
