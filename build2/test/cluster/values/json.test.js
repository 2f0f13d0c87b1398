import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { countOf, isObject, nameOf, parseJson, withMember } from "../../../src/cluster/values/json.js";
test("parseJson returns undefined for text that is not JSON", () => {
    assert.equal(parseJson("{"), undefined);
    assert.equal(parseJson(""), undefined);
    assert.deepEqual(parseJson("[1]"), [1]);
});
test("withMember appends a member to any serialized object", () => {
    const objects = fc.dictionary(fc.string().filter((key) => key !== "rolecall"), fc.jsonValue());
    fc.assert(fc.property(objects, fc.jsonValue(), (object, value) => {
        const text = withMember(JSON.stringify(object), "rolecall", JSON.stringify(value));
        assert.equal(text, JSON.stringify({ ...object, rolecall: value }));
    }));
});
test("nameOf rejects unprintable characters and long strings", () => {
    assert.equal(nameOf("pg-1 ü"), "pg-1 ü");
    for (const value of ["a\nb", "a\u0000", "a\u2028b", "x".repeat(257), 1, null])
        assert.equal(nameOf(value), null);
    assert.equal(nameOf("abc", 2), null);
});
test("countOf accepts whole numbers from 0 to 2^53 - 1", () => {
    assert.deepEqual([0, 7, 2 ** 53 - 1].map(countOf), [0, 7, 2 ** 53 - 1]);
    assert.deepEqual([-1, 1.5, 2 ** 53, Number.NaN, "7", null].map(countOf), [null, null, null, null, null, null]);
});
test("isObject rejects arrays, null and primitives", () => {
    assert.deepEqual([{}, [], null, "x"].map(isObject), [true, false, false, false]);
});
//# sourceMappingURL=json.test.js.map