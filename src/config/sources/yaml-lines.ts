import { type CST, type Document, isAlias, isMap, isSeq, type Pair } from "yaml";
import type { ConfigPath } from "../model/issue.ts";
import { keyText, offsetOf, type YamlSurvey } from "./yaml-survey.ts";

/** Returns the position in the text of the value at a path: its key, or the innermost value around it. */
export function offsetAt(path: ConfigPath, { contents }: Document, { targets }: YamlSurvey): number {
  let current: unknown = contents;
  let offset = offsetOf(current) ?? 0;
  for (const step of path) {
    if (isAlias(current)) current = targets.get(current);
    if (isMap(current)) {
      // The last pair counts, as in the parsed value.
      const pair: Pair | undefined = current.items.findLast(({ key }) => keyText(key) === String(step));
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      current = pair.value;
    } else if (isSeq(current) && typeof step === "number") {
      current = current.items[step];
      offset = offsetOf(current) ?? offset;
    } else break;
  }
  return offset;
}

/**
 * Whether a token is nested deeper than `max`. Not recursive: it protects the parser, which is, from such a document.
 */
export function isTooDeep(top: CST.Token, max: number): boolean {
  const open: { token: CST.Token; depth: number }[] = [{ token: top, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > max) return true;
    for (const inner of innerTokens(token)) open.push({ token: inner, depth: depth + 1 });
  }
  return false;
}

function innerTokens(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (token.type !== "block-map" && token.type !== "block-seq" && token.type !== "flow-collection") return [];
  return token.items.flatMap(({ key, value }) => [key, value]).filter((inner) => inner !== undefined && inner !== null);
}
