/**
 * Fills the templates of a chart without Helm: the part of its template language that rolecall's chart uses. Where the
 * variable HELM names a real Helm, test/real/helm.test.ts compares the two.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { stringify } from "yaml";

type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly expression: string }
  | {
      readonly kind: "if" | "with" | "range";
      readonly expression: string;
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

interface Scope {
  readonly root: unknown;
  readonly dot: unknown;
  readonly named: Map<string, readonly Node[]>;
}

/**
 * Fills the templates of a chart.
 * @param files the files of the chart by name
 * @param data what templates read: `Values`, `Release` and `Chart`
 * @returns the filled templates by name, without the helpers
 */
export function fillTemplates(files: ReadonlyMap<string, string>, data: object): ReadonlyMap<string, string> {
  const Files = { Get: (name: string) => files.get(name) ?? assert.fail(`the chart has no file ${name}`) };
  const root = { ...data, Files };
  const named: Scope["named"] = new Map();
  const templates = [...files].filter(([name]) => name.startsWith("templates/"));
  const parsed = templates.map(([name, text]) => [name, parseTemplate(text, named)] as const);
  const filled = parsed.map(([name, nodes]) => [name, fill(nodes, { root, dot: root, named })] as const);
  return new Map(filled.filter(([name]) => name.endsWith(".yaml")));
}

function parseTemplate(text: string, named: Scope["named"]): readonly Node[] {
  const trimmed = text
    .replaceAll(/\{\{(-?) ?\/\*[\s\S]*?\*\/ ?(-?)\}\}/g, "")
    .replaceAll(/\s*\{\{-/g, "{{")
    .replaceAll(/-\}\}\s*/g, "}}");
  const parts = trimmed.split(/(\{\{[\s\S]*?\}\})/);
  const { nodes } = parseNodes(parts, named);
  assert.equal(parts.length, 0, "an end without a beginning");
  return nodes;
}

/** Takes parts up to the next `end` or `else`. */
function parseNodes(
  parts: string[],
  named: Scope["named"],
): { readonly nodes: readonly Node[]; readonly by: string | null } {
  const nodes: Node[] = [];
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const [, action] = /^\{\{\s*([\s\S]*?)\s*\}\}$/.exec(part) ?? [];
    if (action === undefined) nodes.push({ kind: "text", text: part });
    else if (action === "end" || action === "else") return { nodes, by: action };
    else {
      const [, kind, expression = ""] = /^(if|with|range|define) ([\s\S]*)$/.exec(action) ?? [];
      if (kind === undefined) nodes.push({ kind: "value", expression: action });
      else {
        const body = parseNodes(parts, named);
        const otherwise = body.by === "else" ? parseNodes(parts, named).nodes : [];
        if (kind === "define") named.set(JSON.parse(expression), body.nodes);
        else nodes.push({ kind: kind as "if" | "with" | "range", expression, body: body.nodes, otherwise });
      }
    }
  }
  return { nodes, by: null };
}

function fill(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => filledNode(node, scope)).join("");
}

function filledNode(node: Node, scope: Scope): string {
  if (node.kind === "text") return node.text;
  const value = evaluate(node.expression, scope);
  if (node.kind === "value") return String(value);
  if (isEmpty(value)) return fill(node.otherwise, scope);
  if (node.kind === "if") return fill(node.body, scope);
  const dots: readonly unknown[] = node.kind === "with" ? [value] : Object.values(value as object);
  return dots.map((dot) => fill(node.body, { ...scope, dot })).join("");
}

function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}

/** A pipeline: the result of each command is the last argument of the next one. */
function evaluate(expression: string, scope: Scope): unknown {
  const [first = "", ...rest] = expression.split(" | ");
  return rest.reduce((value, command) => call(command, scope, [value]), call(first, scope, []));
}

function call(command: string, scope: Scope, piped: readonly unknown[]): unknown {
  const [name = "", ...words] = command.match(/\((?:[^()]|\([^()]*\))*\)|"[^"]*"|\S+/g) ?? [];
  const given = [...words.map((word) => operand(word, scope)), ...piped];
  if (name === "include") return fill(scope.named.get(String(given[0])) ?? [], { ...scope, dot: given[1] });
  const run = functions[name];
  if (run !== undefined) return run(...given);
  const value = operand(name, scope);
  return typeof value === "function" ? value(...given) : value;
}

function operand(word: string, { root, dot, named }: Scope): unknown {
  if (word.startsWith("(")) return evaluate(word.slice(1, -1), { root, dot, named });
  if (/^("|-?\d)/.test(word)) return JSON.parse(word);
  assert.match(word, /^(\$$|\$?\.)/, `not known: ${word}`);
  const path = word
    .replace(/^\$?\.?/, "")
    .split(".")
    .filter((name) => name !== "");
  const read = (at: unknown, name: string): unknown => (at as Readonly<Record<string, unknown>>)[name];
  return path.reduce(read, word.startsWith("$") ? root : dot);
}

const functions: Readonly<Record<string, (...given: readonly unknown[]) => unknown>> = {
  and: (...given) => given.find(isEmpty) ?? given.at(-1),
  default: (otherwise, value) => (isEmpty(value) ? otherwise : value),
  gt: (one, other) => Number(one) > Number(other),
  int: Number,
  ne: (one, other) => one !== other,
  nindent: (columns, text) => `\n${String(text).replaceAll(/^/gm, " ".repeat(Number(columns)))}`,
  or: (...given) => given.find((value) => !isEmpty(value)) ?? given.at(-1),
  printf: (format, ...given) => given.reduce<string>((text, word) => text.replace("%s", String(word)), String(format)),
  quote: (text) => JSON.stringify(String(text)),
  sha256sum: (text) => createHash("sha256").update(String(text)).digest("hex"),
  toYaml: (value) => stringify(value, { lineWidth: 0, sortMapEntries: true, indentSeq: false }).replace(/\n$/, ""),
  trunc: (length, text) => String(text).slice(0, Number(length)),
};
