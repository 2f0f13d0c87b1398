import assert from "node:assert/strict";
import { test } from "node:test";
import { LineLimit } from "../../../src/events/log/line-limit.js";
test("bounds the lines of a period, and reports at its end how many were left out", () => {
    const reported = [];
    const limit = new LineLimit(2, 60_000, (count, periodMs) => reported.push([count, periodMs]));
    assert.deepEqual([limit.take(), limit.take(), limit.take(), limit.take(7)], [true, true, false, false]);
    limit.end();
    assert.deepEqual(reported, [[8, 60_000]]);
    assert.equal(limit.take(), true);
    limit.end();
    assert.equal(reported.length, 1);
});
//# sourceMappingURL=line-limit.test.js.map