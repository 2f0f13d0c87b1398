/** Terminal colours; every function returns its argument if colours are off. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
}

/**
 * Chooses the style. Colours are on if the output is a terminal, unless NO_COLOR is set (no-color.org).
 * @param when the value of `--color`, which overrides both
 */
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

/** Replaces control characters, so that foreign text cannot control the terminal. */
export function safe(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this matches control characters on purpose
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
}

/** Like {@link safe}, but keeps line breaks and tabs. */
export function safeLines(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this matches control characters on purpose
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, "?");
}
