import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { prettyLines } from "../../../src/events/log/pretty-lines.js";
const time = "2026-11-21T03:12:07.120Z";
/** The text of a line without its time, which is local. */
function prettyOf(fields, isColoured = false) {
    const text = prettyLines(isColoured)(`${JSON.stringify({ level: "error", time, ...fields })}\n`);
    assert.match(text, /^2026-11-2\d \d\d:\d\d:\d7\.120 /);
    return text.slice("2026-11-21 03:12:07.120 ".length);
}
suite("a log line for people", () => {
    test("has its level by name, the message, and the fields as key=value", () => {
        assert.equal(prettyOf({
            msg: "demo has no primary",
            cluster: "demo",
            cause: "pg2 is down",
            gap_ms: 7,
            before: { a: 1 },
            no: null,
        }), 'ERROR: demo has no primary  cluster=demo  cause="pg2 is down"  gap_ms=7  before={"a":1}\n');
        assert.equal(prettyOf({ level: 30, msg: "a number as level" }), "INFO: a number as level\n");
    });
    test("has the stack of an error on lines of its own", () => {
        const stack = "Error: no\n    at one (file:///a.js:1:2)";
        assert.equal(prettyOf({ msg: "failed", err: { type: "Error", message: "no", stack } }), "ERROR: failed\n    Error: no\n    at one (file:///a.js:1:2)\n");
    });
    test("has a coloured level if colours are on", () => {
        assert.ok(prettyOf({ msg: "x" }, true).startsWith("\u001b[31mERROR\u001b[39m: "));
    });
    test("never has characters that control the terminal, wherever they come from", () => {
        const hostile = "a\u001b[2Jb\r\n\u0007\u009b31m\u202ec\u2028d\u200be";
        const text = prettyOf({
            msg: hostile,
            [hostile]: hostile,
            list: [hostile],
            deep: { [hostile]: { x: hostile } },
            err: { message: hostile, stack: `${hostile}\n  at ${hostile}` },
        });
        assert.doesNotMatch(text.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        assert.match(text, /^ERROR: a\?\[2Jb\?\?\?\?31m\?c\?d\?e {2}a\?\[2J/);
    });
    test("that is no JSON object is shown as it is, without such characters", () => {
        assert.equal(prettyLines(false)("no \u001b[2J json\n"), "no ?[2J json\n");
        assert.equal(prettyLines(false)("[1]\n"), "[1]\n");
    });
});
//# sourceMappingURL=pretty-lines.test.js.map