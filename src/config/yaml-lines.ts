import { type CST, type Document, isAlias, isMap, isNode, isScalar, isSeq, type LineCounter, type Pair, visit } from "yaml";
import type { ConfigPath } from "./issue.ts";

/** A parsed document, and where its lines begin. */
export interface DocumentLines {
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
}

/** The line (from 1) at which the value of a path is said: its key's, or that of the nearest value around it. */
export function lineOf(path: ConfigPath, { document, lines }: DocumentLines): number {
  let current: unknown = document.contents;
  let offset = offsetOf(current) ?? 0;
  for (const step of path) {
    if (isAlias(current)) current = current.resolve(document);
    if (isMap(current)) {
      // The last pair counts, as it does in the value read.
      const pair: Pair | undefined = current.items.findLast(({ key }) => keyText(key) === String(step));
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      current = pair.value;
    } else if (isSeq(current) && typeof step === "number") {
      current = current.items[step];
      offset = offsetOf(current) ?? offset;
    } else break;
  }
  return lines.linePos(offset).line;
}

/** Every key that its mapping has had before, with the line of the later one. */
export function duplicateKeys({ document, lines }: DocumentLines): { key: string; line: number }[] {
  const found: { key: string; line: number }[] = [];
  visit(document, {
    Map: (_, map) => {
      // The library's own comparison takes each key with each other: too slow for a hostile file.
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const text = keyText(key);
        if (seen.has(text)) found.push({ key: text, line: lines.linePos(offsetOf(key) ?? 0).line });
        seen.add(text);
      }
    },
  });
  return found;
}

/** Whether a token nests deeper than `max`. Told without recursion, so that the parser that recurses never sees such a document. */
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

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
