import {
  SyntaxKind,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isIfStatement,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isWhileStatement,
  type BinaryExpression,
  type CallExpression,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import type { Change } from "./mutant.ts";

type Rewrite = readonly [name: string, operator: string];

/** A comparison is moved by one, where it has an order, and inverted. */
const comparisons: ReadonlyMap<SyntaxKind, readonly Rewrite[]> = new Map([
  [SyntaxKind.LessThanToken, [["lte", "<="] as const, ["gte", ">="] as const]],
  [SyntaxKind.LessThanEqualsToken, [["lt", "<"] as const, ["gt", ">"] as const]],
  [SyntaxKind.GreaterThanToken, [["gte", ">="] as const, ["lte", "<="] as const]],
  [SyntaxKind.GreaterThanEqualsToken, [["gt", ">"] as const, ["lt", "<"] as const]],
  [SyntaxKind.EqualsEqualsEqualsToken, [["not", "!=="] as const]],
  [SyntaxKind.ExclamationEqualsEqualsToken, [["not", "==="] as const]],
]);

const logical: ReadonlyMap<SyntaxKind, readonly [construct: string, swapped: Rewrite]> = new Map([
  [SyntaxKind.AmpersandAmpersandToken, ["and", ["or", "||"]] as const],
  [SyntaxKind.BarBarToken, ["or", ["and", "&&"]] as const],
]);

/** Calls that choose a bound or hold for some or all elements, and their opposites. */
const opposites: ReadonlyMap<string, string> = new Map([
  ["min", "max"],
  ["max", "min"],
  ["some", "every"],
  ["every", "some"],
  ["floor", "ceil"],
  ["ceil", "floor"],
]);

/** Returns the changes to one node of the syntax tree that are mutants. */
export function changesOf(node: Node, source: SourceFile): readonly Change[] {
  return [...ownChanges(node, (part) => part.getText(source)), ...conditionChanges(node)];
}

function ownChanges(node: Node, text: (part: Node) => string): readonly Change[] {
  if (isBinaryExpression(node)) return binaryChanges(node, text);
  if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    return [{ construct: "not", change: "removed", replacement: text(node.operand) }];
  if (isConditionalExpression(node))
    return [
      {
        construct: "ternary",
        change: "swapped",
        replacement: `(${text(node.condition)}) ? (${text(node.whenFalse)}) : (${text(node.whenTrue)})`,
      },
    ];
  if (isNumericLiteral(node) && !isKey(node)) return numberChanges(text(node));
  if (isCallExpression(node)) return callChanges(node, text);
  return [];
}

/** Comparisons, and the operands of `&&`, `||` and `??`. */
function binaryChanges(node: BinaryExpression, text: (part: Node) => string): readonly Change[] {
  const { kind } = node.operatorToken;
  const left = text(node.left);
  const right = text(node.right);
  const rewrites = comparisons.get(kind);
  if (rewrites !== undefined)
    return rewrites.map(([change, operator]) => ({
      construct: "compare",
      change,
      replacement: `(${left}) ${operator} (${right})`,
    }));
  const both = logical.get(kind);
  if (both !== undefined) {
    const [construct, [change, operator]] = both;
    return [
      { construct, change, replacement: `(${left}) ${operator} (${right})` },
      { construct, change: "left", replacement: left },
      // `a && b && c` is `(a && b) && c`: so each operand of a chain is left out once.
      ...(isOperandOf(node.left, kind) ? [] : [{ construct, change: "right", replacement: right }]),
    ];
  }
  // `undefined` in place of `null` is another spelling of "unknown", which only the compiler tells apart.
  if (kind === SyntaxKind.QuestionQuestionToken && right !== "null")
    return [
      { construct: "default", change: "removed", replacement: left },
      { construct: "default", change: "forced", replacement: right },
    ];
  if (kind === SyntaxKind.QuestionQuestionEqualsToken || kind === SyntaxKind.BarBarEqualsToken)
    return [{ construct: "assign", change: "forced", replacement: `${left} = ${right}` }];
  return [];
}

function isOperandOf(node: Node, kind: SyntaxKind): boolean {
  return isBinaryExpression(node) && node.operatorToken.kind === kind;
}

function isKey(node: Node): boolean {
  return isPropertyAssignment(node.parent) && node.parent.name === node;
}

/** A number is moved by one in both directions. */
function numberChanges(text: string): readonly Change[] {
  const value = Number(text.replaceAll("_", ""));
  if (!Number.isFinite(value)) return [];
  return [
    { construct: "number", change: "more", replacement: String(value + 1) },
    { construct: "number", change: "less", replacement: `(${value - 1})` },
  ];
}

function callChanges(node: CallExpression, text: (part: Node) => string): readonly Change[] {
  const callee = node.expression;
  if (!isPropertyAccessExpression(callee) || callee.questionDotToken !== undefined) return [];
  const name = text(callee.name);
  const on = text(callee.expression);
  const given = node.arguments.map(text).join(", ");
  if (name === "filter") return [{ construct: "filter", change: "removed", replacement: on }];
  const opposite = opposites.get(name);
  const isMath = on === "Math";
  if (opposite === undefined || isMath === (name === "some" || name === "every")) return [];
  return [{ construct: name, change: opposite, replacement: `${on}.${opposite}(${given})` }];
}

/** A guard is removed and forced. A loop is not forced, because it would only never end. */
function conditionChanges(node: Node): readonly Change[] {
  const { parent } = node;
  if (parent === undefined) return [];
  const removed: Change = { construct: "if", change: "never", replacement: "false" };
  if (isIfStatement(parent) && parent.expression === node)
    return [removed, { construct: "if", change: "always", replacement: "true" }];
  return isWhileStatement(parent) && parent.expression === node ? [{ ...removed, construct: "while" }] : [];
}
