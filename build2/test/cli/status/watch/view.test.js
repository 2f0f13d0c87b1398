import assert from "node:assert/strict";
import { test } from "node:test";
import { pressKey } from "../../../../src/cli/status/watch/view.js";
const start = {
    order: "problem",
    problemsOnly: false,
    query: "",
    offset: 5,
    isTyping: false,
    isPaused: false,
    isEnded: false,
};
const range = { page: 10, offsetMax: 42 };
function key(text, name = text) {
    return { text, name, isCtrl: false };
}
function after(...keys) {
    const view = keys.reduce((before, pressed) => pressKey(before, pressed, range), start);
    const changed = Object.entries(view).filter(([name, value]) => value !== new Map(Object.entries(start)).get(name));
    return Object.fromEntries(changed);
}
const named = (name) => key("", name);
const rows = [
    ["down and j scroll by one line", [named("down"), key("j")], { offset: 7 }],
    ["up and k scroll back", [named("up"), key("k")], { offset: 3 }],
    ["no key scrolls above the first line", [named("pageup")], { offset: 0 }],
    ["PgDn scrolls by a page", [named("pagedown")], { offset: 15 }],
    ["no key scrolls past the end", Array.from({ length: 9 }, () => named("pagedown")), { offset: 42 }],
    ["Home and g go to the start", [named("end"), key("g")], { offset: 0 }],
    ["End and G go to the end", [key("G", "g")], { offset: 42 }],
    ["s chooses the next order, and shows its start", [key("s")], { order: "name", offset: 0 }],
    ["s begins anew after the last order", [key("s"), key("s"), key("s"), key("s")], { offset: 0 }],
    ["p shows only problems", [key("p")], { problemsOnly: true, offset: 0 }],
    ["a second p shows all", [key("p"), key("P", "p")], { offset: 0 }],
    ["space pauses", [key(" ", "space")], { isPaused: true }],
    ["a second space goes on", [key(" ", "space"), key(" ", "space")], {}],
    ["keys are characters of a name after /", [key("/"), key("q"), key("p")], { isTyping: true, query: "qp", offset: 0 }],
    ["Enter keeps the name", [key("/"), key("q"), key("\r", "return")], { query: "q", offset: 0 }],
    [
        "Backspace takes the last character away",
        [key("/"), key("a"), key("b"), key("\b", "backspace")],
        { isTyping: true, query: "a", offset: 0 },
    ],
    ["Esc discards the name", [key("/"), key("a"), key("\u001b", "escape")], { offset: 0 }],
    [
        "Esc discards a name that was kept",
        [key("/"), key("a"), key("\r", "return"), key("\u001b", "escape")],
        { offset: 0 },
    ],
    ["control characters are no part of a name", [key("/"), key("\u0007", "")], { isTyping: true }],
    ["q ends", [key("q")], { isEnded: true }],
    [
        "Ctrl-C ends, also while a name is typed",
        [key("/"), { text: "\u0003", name: "c", isCtrl: true }],
        { isTyping: true, isEnded: true },
    ],
    ["other keys change nothing", [key("x"), named("f1")], {}],
];
for (const [title, keys, expected] of rows)
    test(title, () => assert.deepEqual(after(...keys), expected));
test("a name to search for has a bounded length", () => {
    assert.equal(after(key("/"), ...Array.from({ length: 500 }, () => key("a"))).query?.length, 128);
});
//# sourceMappingURL=view.test.js.map