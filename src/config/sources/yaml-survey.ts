import { type Alias, type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node } from "yaml";
import type { ConfigPath } from "../model/issue.ts";

/** What one walk through a YAML document finds. Offsets are positions in the text. */
export interface YamlSurvey {
  /**
   * Each repeated key: its mapping has an equal key before it. The library would compare all keys with each other:
   * too slow for a hostile file.
   */
  readonly duplicates: readonly { readonly path: ConfigPath; readonly offset: number }[];
  /** Each alias without an anchor before it. */
  readonly unresolved: readonly { readonly alias: string; readonly path: ConfigPath; readonly offset: number }[];
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Alias, Node>;
}

/**
 * Visits each node of a document once, without following aliases. Recursive: the document must not be nested deeply.
 */
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

/** Returns a key as it is in the parsed value. */
export function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** Returns the position where a node begins, if it was parsed from a text. */
export function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
