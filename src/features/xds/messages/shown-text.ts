/** What would move a terminal's cursor, hide text or break a line. */
const unshown = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A client's text as logs and terminals may show it. Keeps nothing of the rest. */
export function shownText(text: string, max: number): string {
  // A slice would keep the whole text in memory.
  return Buffer.from(text.slice(0, max).replace(unshown, "\ufffd")).toString();
}
