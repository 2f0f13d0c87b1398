import {
  NodeFlags,
  SyntaxKind,
  isCallExpression,
  isClassDeclaration,
  isElementAccessExpression,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isPropertyAccessExpression,
  isPropertyDeclaration,
  isTypeNode,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { changesOf } from "./changes.ts";
import type { Mutant } from "./mutant.ts";

/** Statements that the compiler removes, or that hold no expressions. */
const skipped: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.ExportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
]);

/**
 * Returns all mutants of a source file in the order of the source.
 * @param file the path within `src`, without its ending
 */
export function mutantsOf(source: SourceFile, file: string): readonly Mutant[] {
  const mutants: Mutant[] = [];
  const seen = new Map<string, number>();
  const visit = (node: Node, scope: string): void => {
    if (skipped.has(node.kind) || isTypeNode(node)) return;
    const inner = scopeWithin(node, scope, source);
    if (!isInsideChain(node)) addMutants(node, inner);
    node.forEachChild((child) => visit(child, inner));
  };
  const addMutants = (node: Node, scope: string): void => {
    const counted = new Set<string>();
    for (const { construct, change, replacement } of changesOf(node, source)) {
      const key = `${scope}:${construct}`;
      const ordinal = (seen.get(key) ?? 0) + (counted.has(key) ? 0 : 1);
      counted.add(key);
      seen.set(key, ordinal);
      const code = node.getText(source);
      const place = { file, start: node.getStart(source), end: node.getEnd(), code };
      mutants.push({ ...place, id: `${file}:${key}.${ordinal}:${change}`, replacement });
    }
  };
  visit(source, "module");
  return mutants;
}

/** Classes, functions, methods and named values name what is in them. */
function scopeWithin(node: Node, scope: string, source: SourceFile): string {
  const isNamed =
    isFunctionDeclaration(node) ||
    isMethodDeclaration(node) ||
    isGetAccessorDeclaration(node) ||
    isClassDeclaration(node) ||
    ((isVariableDeclaration(node) || isPropertyDeclaration(node)) && isOutside(scope));
  if (!isNamed || node.name === undefined) return scope;
  const name = node.name.getText(source);
  return isOutside(scope) && scope !== "module" ? `${scope}.${name}` : name;
}

/** Classes begin with a capital letter: what is directly in one, or in no function, is named by its own name. */
function isOutside(scope: string): boolean {
  return scope === "module" || /^[A-Z][^.]*$/.test(scope);
}

/** Within an optional chain no part can be replaced, because parentheses end the chain. */
function isInsideChain(node: Node): boolean {
  const { parent } = node;
  if (parent === undefined) return false;
  const isLink = isPropertyAccessExpression(parent) || isElementAccessExpression(parent) || isCallExpression(parent);
  return isLink && parent.expression === node && (parent.flags & NodeFlags.OptionalChain) !== 0;
}
