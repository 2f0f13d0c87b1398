import assert from "node:assert/strict";
import { test } from "node:test";
import { fit, unfit, validUntil } from "../../../src/core/health/verdict.ts";

test("a verdict that is valid no longer than a limit stays the same object", () => {
  for (const verdict of [fit, unfit("down", "refused")]) {
    const limited = validUntil(verdict, 1_000);
    assert.deepEqual(limited, { ...verdict, validUntilMs: 1_000 });
    assert.equal(validUntil(limited, 1_000), limited);
    assert.equal(validUntil(limited, 1_001), limited);
    assert.deepEqual(validUntil(limited, 999), { ...verdict, validUntilMs: 999 });
  }
});
