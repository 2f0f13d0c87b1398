import { withoutUnsafe } from "../../cluster/values/unsafe-text.ts";

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

/** Replaces control and format characters, so that foreign text cannot control the terminal or reverse other text. */
export function safe(text: string): string {
  return withoutUnsafe(text);
}

/** Like {@link safe}, but keeps line breaks and tabs. */
export function safeLines(text: string): string {
  return withoutUnsafe(text, "\n\t");
}

/**
 * Like {@link safeLines}, but keeps the colours that a {@link Style} adds: the last resort for all text that a
 * command writes.
 */
export function safeStyled(text: string): string {
  return text
    .split(styleSequence)
    .map((part, index) => (index % 2 === 0 ? safeLines(part) : part))
    .join("");
}

// oxlint-disable-next-line no-control-regex -- this matches the escape character on purpose
const styleSequence = /(\u001b\[(?:0|1|2|31|32|33)m)/;
