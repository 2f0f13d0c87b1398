import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { complaints, underGuard } from "../../bench/guard.js";
const speed = { name: "speed: kept", figure: 0.7, bound: { atLeast: 0.75 }, detail: "70 against 100" };
describe("the guard", () => {
    test("checks a row against the bound of the guard, not the promised one", () => {
        assert.deepEqual(complaints(underGuard([speed], { "speed: kept": { atLeast: 0.4 } })), []);
    });
    test("names the row that misses its bound, and its figure", () => {
        assert.deepEqual(complaints(underGuard([speed], { "speed: kept": { atLeast: 5 } })), [
            'Cannot pass the guard: "speed: kept" must be >= 5, got 0.70 (70 against 100)',
        ]);
    });
    test("passes if a tool is missing, as long as one row was measured", () => {
        const missing = { name: "ratio", notRun: "package nginx is not installed" };
        const bounds = { "speed: kept": { atLeast: 0.4 }, "ratio: new": { atLeast: 1 } };
        assert.deepEqual(complaints(underGuard([speed, missing], bounds)), []);
        assert.deepEqual(complaints(underGuard([missing], { "ratio: new": { atLeast: 1 } })), [
            "Cannot pass the guard: at least one row must be measured, got none",
        ]);
    });
    test("fails if a measurement breaks, even without a row of that name", () => {
        const broken = { name: "throughput", broken: "no answer came" };
        assert.deepEqual(complaints(underGuard([speed, broken], { "speed: kept": { atLeast: 0.4 }, other: { atLeast: 1 } })), ['Cannot pass the guard: "throughput" must be measured, got: no answer came']);
    });
    test("rejects a bound that names no row", () => {
        assert.throws(() => underGuard([speed], { "speed: gone": { atLeast: 1 } }), /Cannot guard "speed: gone"/);
    });
    test("treats a missing figure as a missed bound", () => {
        assert.equal(complaints(underGuard([{ ...speed, figure: Number.NaN }], { "speed: kept": { atMost: 4 } })).length, 1);
    });
});
//# sourceMappingURL=guard.test.js.map