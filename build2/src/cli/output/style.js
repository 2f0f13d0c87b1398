import { withoutUnsafe } from "../../cluster/values/unsafe-text.js";
/**
 * Chooses the style. Colours are on if the output is a terminal, unless NO_COLOR is set (no-color.org).
 * @param when the value of `--color`, which overrides both
 */
export function styleFor(when, isTerminal, env) {
    const isWanted = when === "always" || (when !== "never" && isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb");
    const paint = (code) => isWanted ? (text) => `\u001b[${code}m${text}\u001b[0m` : (text) => text;
    return { bold: paint(1), dim: paint(2), red: paint(31), yellow: paint(33), green: paint(32) };
}
/** Replaces control and format characters, so that foreign text cannot control the terminal or reverse other text. */
export function safe(text) {
    return withoutUnsafe(text);
}
/** Like {@link safe}, but keeps line breaks and tabs. */
export function safeLines(text) {
    return withoutUnsafe(text, "\n\t");
}
/**
 * Like {@link safeLines}, but keeps the colours that a {@link Style} adds: the last resort for text that a command
 * writes to a terminal.
 */
export function safeStyled(text) {
    return text
        .split(styleSequence)
        .map((part, index) => (index % 2 === 0 ? safeLines(part) : part))
        .join("");
}
// oxlint-disable-next-line no-control-regex -- this matches the escape character on purpose
const styleSequence = /(\u001b\[\d{1,2}m)/;
//# sourceMappingURL=style.js.map