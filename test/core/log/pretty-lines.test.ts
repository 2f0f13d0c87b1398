import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { prettyLines } from "../../../src/core/log/pretty-lines.ts";

const time = "2026-11-21T03:12:07.120Z";

/** The text of a line without its time, which is local. */
function prettyOf(fields: object, isColoured = false): string {
  const text = prettyLines(isColoured)(`${JSON.stringify({ level: "error", time, ...fields })}\n`);
  assert.match(text, /^2026-11-2\d \d\d:\d\d:\d7\.120 /);
  return text.slice("2026-11-21 03:12:07.120 ".length);
}

suite("a log line for people", () => {
  test("has its level by name, the message, and the fields as key=value", () => {
    assert.equal(
      prettyOf({
        msg: "demo has no primary",
        cluster: "demo",
        cause: "pg2 is down",
        gap_ms: 7,
        before: { a: 1 },
        no: null,
      }),
      'ERROR: demo has no primary  cluster=demo  cause="pg2 is down"  gap_ms=7  before={"a":1}\n',
    );
    assert.equal(prettyOf({ level: 30, msg: "a number as level" }), "INFO: a number as level\n");
  });

  test("of an event has what its message lacks of cluster, node and cause, and where its reason is explained", () => {
    const event = {
      event: "detached",
      id: "1795317474154.2",
      cluster: "demo",
      node: "pg2",
      cause: "in no sender list, not advanced for 10 s",
      lag_bytes: 2_624_648,
      role: "replica",
      isReachable: true,
      replica: "detached",
      before: { role: "replica", isReachable: true, replica: "fit" },
      see: "docs/reasons.md#detached",
    };
    const msg = "pg2 of demo is detached: in no sender list, not advanced for 10 s";
    assert.equal(prettyOf({ ...event, msg }), `ERROR: ${msg}  see=docs/reasons.md#detached\n`);
    assert.equal(
      prettyOf({ ...event, cause: "its sender", msg: "pg2 is detached" }),
      'ERROR: pg2 is detached  cluster=demo  cause="its sender"  see=docs/reasons.md#detached\n',
    );
    assert.equal(prettyOf({ event: "drained", cluster: "demo", by: "kim", msg: "drained" }).includes("by=kim"), true);
    // A part of a word is another name.
    assert.match(prettyOf({ ...event, node: "pg", msg }), /node=pg /);
  });

  test("of a changed verdict has what changed", () => {
    const after = { role: "primary", isReachable: true, primary: "fit", replica: "wrong_role" };
    const before = { role: "replica", isReachable: true, primary: "wrong_role", replica: "wrong_role" };
    assert.equal(
      prettyOf({ msg: "role changed", cluster: "demo", node: "pg2", ...after, before, lag_bytes: 0 }),
      "ERROR: role changed  cluster=demo  node=pg2  role=replica->primary  primary=wrong_role->fit  lag_bytes=0\n",
    );
    assert.equal(prettyOf({ msg: "node seen", node: "pg2", ...after }).includes("isReachable=true"), true);
  });

  test("has the stack of an error on lines of its own", () => {
    const stack = "Error: no\n    at one (file:///a.js:1:2)";
    assert.equal(
      prettyOf({ msg: "failed", err: { type: "Error", message: "no", stack } }),
      "ERROR: failed\n    Error: no\n    at one (file:///a.js:1:2)\n",
    );
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
