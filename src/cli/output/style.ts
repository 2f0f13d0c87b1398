/** Colours, or none. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

/** Colour is for terminals; `--color` decides otherwise, and NO_COLOR (no-color.org) is heard. */
export function styleFor(
  when: string | null,
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Style {
  const isWanted =
    when === "always" || (when !== "never" && isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb");
  const paint = (code: number): ((text: string) => string) =>
    isWanted ? (text) => `\u001b[${code}m${text}\u001b[0m` : (text) => text;
  return { bold: paint(1), dim: paint(2), red: paint(31), yellow: paint(33), green: paint(32) };
}

/** Text from elsewhere, safe on a terminal: no control characters. */
export function safe(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are just what must not pass
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
}

/** As {@link safe}, but line breaks and tabs stay. */
export function safeLines(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are just what must not pass
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
}
