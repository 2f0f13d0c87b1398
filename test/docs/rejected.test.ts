import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { rejectionFor, rejectionReasons } from "../../src/core/http/admission/rejection.ts";

test("docs/checks.md lists every reason why a request cannot be read with its status, and no other", () => {
  const page = readFileSync("docs/checks.md", "utf8");
  const listed = [...page.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, reason, status]) => `${reason} ${status}`);
  assert.deepEqual(
    listed.toSorted(),
    rejectionReasons.map((reason) => `${reason} ${rejectionFor(reason).status}`).toSorted(),
  );
});
