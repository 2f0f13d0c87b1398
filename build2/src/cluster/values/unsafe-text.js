/** Control characters, and characters that are invisible or change the direction of text. */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/**
 * Replaces characters by which foreign text could control a terminal or disguise what it shows.
 * @param kept characters that stay, such as line breaks
 */
export function withoutUnsafe(text, kept = "") {
    return text.replaceAll(unsafeCharacters, (character) => (kept.includes(character) ? character : "?"));
}
//# sourceMappingURL=unsafe-text.js.map