/** Text on terminals of limited width. */

/** The number of columns that a text takes. */
export function textWidth(text: string): number {
  return isAscii(text) ? text.length : Array.from(text).length;
}

/** Nearly all texts are: counting them needs no list of characters. */
function isAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** Shortens a text to `width` columns; the last one is `…` if anything is missing. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text;
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/**
 * Breaks a text into lines of at most `width` columns, between words only. A word that is longer than a line is
 * shortened.
 * @param indent the number of spaces before every line but the first; it counts towards `width`
 */
export function wrapWords(text: string, width: number, indent = 0): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const start = lines.length === 0 ? "" : " ".repeat(indent);
    if (line === "") line = start + shorten(word, width - start.length);
    else if (textWidth(line) + 1 + textWidth(word) <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = " ".repeat(indent) + shorten(word, width - indent);
    }
  }
  return line === "" ? lines : [...lines, line];
}
