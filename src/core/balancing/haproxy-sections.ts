/** One line of an haproxy.cfg. */
interface HaproxyLine {
  readonly tokens: readonly string[];
  readonly number: number;
}

/** A section of an haproxy.cfg: a kind that can contain checks and servers, or `global`. */
export interface HaproxySection {
  readonly keyword: string;
  /** Its keyword and name: `backend reads`. */
  readonly name: string;
  readonly lines: readonly HaproxyLine[];
}

/** Splits the text of an haproxy.cfg into its sections. */
export function sectionsOf(text: string): readonly HaproxySection[] {
  const sections: (HaproxySection & { readonly lines: HaproxyLine[] })[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const tokens = tokensOf(line);
    const [keyword = "", name = ""] = tokens;
    if (["global", "defaults", "listen", "backend", "frontend"].includes(keyword))
      sections.push({ keyword, name: [keyword, name].join(" ").trim(), lines: [] });
    else sections.at(-1)?.lines.push({ tokens, number: index + 1 });
  }
  return sections;
}

/** Splits a line as HAProxy does: at spaces, with quotes, backslash escapes, and comments after `#`. */
export function tokensOf(line: string): readonly string[] {
  const tokens: string[] = [];
  for (const match of line.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:[^\s"'#\\]|\\.)+)|(#.*))(\s*)/g)) {
    const [whole = "", double, single, bare, comment] = match;
    if (comment !== undefined) break;
    const text = (double ?? bare)?.replaceAll(/\\(.)/g, "$1") ?? single ?? "";
    const isJoined = match.index > 0 && !/\s/.test(line[match.index - 1] ?? " ") && tokens.length > 0 && whole !== "";
    if (isJoined) tokens.push(`${tokens.pop() ?? ""}${text}`);
    else tokens.push(text);
  }
  return tokens;
}
