import assert from "node:assert/strict";
import { test } from "node:test";
import { isSet, parseTags } from "../../../src/cluster/values/tags.js";
test("parseTags keeps strings and turns booleans and numbers into lower-case text", () => {
    assert.deepEqual(parseTags({ a: "X", b: true, c: 1, d: null, e: [] }), new Map([
        ["a", "X"],
        ["b", "true"],
        ["c", "1"],
    ]));
    assert.equal(parseTags(null).size, 0);
});
test("isSet is false for absent, empty and negative values only", () => {
    const set = ["true", "1", "yes", "on", "anything"].map((tag) => isSet(new Map([["t", tag]]), "t"));
    const unset = ["false", "FALSE", "0", "no", "off", ""].map((tag) => isSet(new Map([["t", tag]]), "t"));
    assert.deepEqual([...set, ...unset, isSet(new Map(), "t")], [true, true, true, true, true, false, false, false, false, false, false, false]);
});
//# sourceMappingURL=tags.test.js.map