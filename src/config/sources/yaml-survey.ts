import { type Alias, type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node } from "yaml";
import type { ConfigPath } from "../model/issue.ts";

/** What one walk through a YAML document finds. Offsets are into the text. */
export interface YamlSurvey {
  /** Each key that its mapping has had before. The library would compare each key with each: too slow for a hostile file. */
  readonly duplicates: readonly { readonly path: ConfigPath; readonly offset: number }[];
  /** Each alias that stands for no anchor before it. */
  readonly unresolved: readonly { readonly alias: string; readonly path: ConfigPath; readonly offset: number }[];
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

/** Walks through a document, which must not nest deep: each node once, aliases not followed. */
export function surveyDocument(document: Document): YamlSurvey {
  const duplicates: YamlSurvey["duplicates"][number][] = [];
  const unresolved: YamlSurvey["unresolved"][number][] = [];
  const targets = new Map<Alias, Node>();
  const anchors = new Map<string, Node>();

  const walk = (node: unknown, path: ConfigPath): void => {
    if (!isNode(node)) return;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) unresolved.push({ alias: node.source, path, offset: offsetOf(node) ?? 0 });
      else targets.set(node, target);
    } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isSeq(node)) for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    if (!isMap(node)) return;
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      walk(key, path);
      const inner = [...path, keyText(key)];
      if (seen.has(keyText(key))) duplicates.push({ path: inner, offset: offsetOf(key) ?? 0 });
      seen.add(keyText(key));
      walk(value, inner);
    }
  };
  walk(document.contents, []);
  return { duplicates, unresolved, targets };
}

/** A key as the value read has it. */
export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** Where a node begins in the text, if it was read from one. */
export function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
