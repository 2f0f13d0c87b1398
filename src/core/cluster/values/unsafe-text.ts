/** Control characters, and characters that are invisible or change the direction of text. */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** What JSON text has beyond printable ASCII and line breaks. Most texts have nothing of it: a look that costs little. */
const beyondPlain = /[^\n -~]/;

/**
 * Escapes the same characters in JSON text, so that it means the same, and controls no terminal. Line breaks between
 * values stay. A text without such characters is returned as it is.
 */
export function escapeUnsafe(json: string): string {
  if (!beyondPlain.test(json)) return json;
  return json.replaceAll(unsafeCharacters, (character) =>
    character === "\n"
      ? character
      : Array.from({ length: character.length }, (_, at) => unicodeEscape(character.charCodeAt(at))).join(""),
  );
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/**
 * Replaces characters by which foreign text could control a terminal or disguise what it shows.
 * @param kept characters that stay, such as line breaks
 */
export function withoutUnsafe(text: string, kept = ""): string {
  return text.replaceAll(unsafeCharacters, (character) => (kept.includes(character) ? character : "?"));
}
