import { statusOrders } from "../selection/sorting.js";
/** The longest name to search for, in characters. */
const queryMax = 128;
/** Returns the view after a key. Keys without a meaning change nothing. */
export function pressKey(view, key, range) {
    if (key.isCtrl && (key.name === "c" || key.name === "d"))
        return { ...view, isEnded: true };
    if (view.isTyping)
        return typeKey(view, key);
    const offset = scrolledTo(view.offset, key, range);
    if (offset !== null)
        return { ...view, offset: Math.max(0, Math.min(offset, range.offsetMax)) };
    switch (key.text.toLowerCase()) {
        case "q":
            return { ...view, isEnded: true };
        case "s":
            return { ...view, order: nextOrder(view.order), offset: 0 };
        case "p":
            return { ...view, problemsOnly: !view.problemsOnly, offset: 0 };
        case "/":
            return { ...view, isTyping: true };
        case " ":
            return { ...view, isPaused: !view.isPaused };
        default:
            return key.name === "escape" ? { ...view, query: "", offset: 0 } : view;
    }
}
/** The keys while a name is typed: Enter keeps it, Esc discards it. The table follows each character. */
function typeKey(view, { name, text, isCtrl }) {
    if (name === "return" || name === "enter")
        return { ...view, isTyping: false };
    if (name === "escape")
        return { ...view, isTyping: false, query: "", offset: 0 };
    if (name === "backspace")
        return { ...view, query: Array.from(view.query).slice(0, -1).join(""), offset: 0 };
    const isCharacter = !isCtrl && /^[^\p{C}\p{Zl}\p{Zp}]$/u.test(text) && view.query.length < queryMax;
    return isCharacter ? { ...view, query: view.query + text, offset: 0 } : view;
}
function scrolledTo(offset, { name, text }, { page, offsetMax }) {
    switch (name) {
        case "up":
            return offset - 1;
        case "down":
            return offset + 1;
        case "pageup":
            return offset - page;
        case "pagedown":
            return offset + page;
        case "home":
            return 0;
        case "end":
            return offsetMax;
        default:
            return text === "k" ? offset - 1 : text === "j" ? offset + 1 : text === "g" ? 0 : text === "G" ? offsetMax : null;
    }
}
function nextOrder(order) {
    return statusOrders[(statusOrders.indexOf(order) + 1) % statusOrders.length] ?? "problem";
}
//# sourceMappingURL=view.js.map