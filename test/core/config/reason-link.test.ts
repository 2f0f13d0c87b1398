import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { suite, test } from "node:test";
import { pagePath, reasonLink } from "../../../src/core/config/reason-link.ts";

suite("the link to the explanation of a reason", () => {
  test("is the path of a page that exists, from wherever the command runs", () => {
    const folder = resolve(".");
    assert.equal(pagePath(folder), "docs/reasons.md");
    for (const elsewhere of ["/", join(folder, "src"), join(folder, "docs")])
      assert.equal(pagePath(elsewhere), join(folder, "docs", "reasons.md"));
    assert.ok(existsSync(join(folder, "docs", "reasons.md")));
  });

  test("has the section of the reason", () => {
    assert.equal(reasonLink("lagging"), "docs/reasons.md#lagging");
  });
});
