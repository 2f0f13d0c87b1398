import assert from "node:assert/strict";
import { test } from "node:test";
import { plainCheck } from "../../../src/core/health/check.ts";
import { hardReasons, softReasons } from "../../../src/core/health/reason.ts";
import { statusOf } from "../../../src/core/health/verdict-status.ts";
import { unfit } from "../../../src/core/health/verdict.ts";

test("a check sets the status of missing evidence and of soft reasons; blind is 500, other hard ones 503", () => {
  const check = { ...plainCheck("replica"), unknownStatus: 599, missStatus: 404 };
  const expected = { blind: 500, down: 599, stale: 599, unknown: 599 } as const;
  for (const reason of hardReasons)
    assert.equal(statusOf(unfit(reason), check), reason in expected ? expected[reason as "down"] : 503, reason);
  const sessions = { ...check, isForSessions: true };
  for (const reason of [...hardReasons, ...softReasons]) assert.equal(statusOf(unfit(reason), sessions), 503, reason);
  for (const reason of softReasons) assert.equal(statusOf(unfit(reason), check), 404, reason);
});
