import { errorMessage } from "../../cluster/values/error-message.ts";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import {
  type Alias,
  type CST,
  Composer,
  type Document,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
} from "yaml";
import { type ConfigPath, describeFound } from "../model/issue.ts";
import { type ConfigProblem, type FilePlace, fileProblem } from "../model/problem.ts";

/** A YAML file: its value, its YAML errors, and the line of each value. */
export interface YamlFile {
  /** `undefined` if the file has no usable value. */
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
  /** Returns the line (from 1) of the value at a path, or of the innermost value around it. */
  readonly lineOf: (path: ConfigPath) => number;
}

const bytesMax = 1024 * 1024;
const nestedMax = 64;
const aliasesMax = 100;
const syntaxErrorsMax = 100;

/** Reads a file of at most 1 MiB as one YAML document. Every error is a problem in the result; never throws. */
export function readYamlFile(file: string): YamlFile {
  let text: string;
  try {
    text = readBounded(file);
  } catch (error) {
    const reason = errorMessage(error);
    return unreadable(file, {
      line: null,
      found: reason,
      allowed: "a readable file of at most 1 MiB",
      message: reason,
    });
  }
  return parseYaml(text, file);
}

/** Does the same as {@link readYamlFile} for a text that is already read. `file` is the name in its problems. */
export function parseYaml(text: string, file: string): YamlFile {
  try {
    return parseOrThrow(text, file);
  } catch (error) {
    // The parser throws if it recurses too deep or meets too many aliases.
    const found = errorMessage(error);
    return unreadable(file, {
      line: 1,
      found,
      allowed: "a YAML document",
      message: `cannot be read as YAML: ${found}`,
    });
  }
}

function parseOrThrow(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const tokens = scan(text, lines);
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const tooDeep = tokens.find((token) => isTooDeep(token, nestedMax));
  if (tooDeep !== undefined) {
    const allowed = `nested at most ${nestedMax} deep`;
    return unreadable(file, {
      line: lineAt(tooDeep.offset),
      found: "more",
      allowed,
      message: `must be ${allowed}, got more`,
    });
  }
  // surveyDocument finds duplicate keys.
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
  const [document, second] = [...composer.compose(tokens, true, text.length)];
  if (document === undefined) return unreadable(file, { line: 1, ...notOneDocument("none") });
  if (second !== undefined) return unreadable(file, { line: lineAt(second.range[0]), ...notOneDocument("several") });
  const errors = [...document.errors, ...document.warnings].slice(0, syntaxErrorsMax);
  const syntax = errors.map((error) => syntaxProblem(error.message, { file, line: lineAt(error.pos[0]) }));
  if (syntax.length > 0) return { value: undefined, problems: syntax, lineOf: () => 1 };
  const survey = surveyDocument(document);
  const aliases = aliasProblems(survey, (offset) => ({ file, line: lineAt(offset) }));
  const problems = survey.duplicates.map(({ path, offset }) => duplicateProblem(path, { file, line: lineAt(offset) }));
  const lineOf = (path: ConfigPath): number => lineAt(offsetAt(path, document, survey));
  if (aliases.length > 0) return { value: undefined, problems: [...problems, ...aliases], lineOf };
  return { value: document.toJS({ maxAliasCount: aliasesMax }), problems, lineOf };
}

function notOneDocument(found: "none" | "several"): Pick<ConfigProblem, "found" | "allowed" | "message"> {
  const allowed = "one YAML document";
  return { found, allowed, message: `must be ${allowed}, got ${found}` };
}

/** Reads tokens without recursion, until the end or the hundredth error. */
function scan(text: string, lines: LineCounter): readonly CST.Token[] {
  const tokens: CST.Token[] = [];
  let errors = 0;
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    tokens.push(token);
    if (token.type === "error") errors += 1;
    if (errors >= syntaxErrorsMax) break;
  }
  return tokens;
}

function duplicateProblem(path: ConfigPath, place: FilePlace): ConfigProblem {
  const key = describeFound(path.at(-1));
  return fileProblem(
    { path, found: key, allowed: "each key once", message: "is given more than once", isKey: true },
    place,
  );
}

function aliasProblems(
  { unresolved, targets }: YamlSurvey,
  placeOf: (offset: number) => FilePlace,
): readonly ConfigProblem[] {
  const problems = unresolved.slice(0, syntaxErrorsMax).map(({ alias, path, offset }) => {
    const found = describeFound(`*${alias}`);
    return fileProblem(
      { path, found, allowed: "an alias of an anchor before it", message: null, isKey: false },
      placeOf(offset),
    );
  });
  if (targets.size <= aliasesMax) return problems;
  const allowed = `a document with at most ${aliasesMax} aliases`;
  return [
    ...problems,
    fileProblem({ path: [], found: String(targets.size), allowed, message: null, isKey: false }, placeOf(0)),
  ];
}

function syntaxProblem(message: string, place: FilePlace): ConfigProblem {
  const found = message.slice(0, 200).replaceAll(/\s+/g, " ");
  return fileProblem(
    { path: [], found, allowed: "YAML", message: `cannot be read as YAML: ${found}`, isKey: false },
    place,
  );
}

function unreadable(
  file: string,
  problem: { line: number | null; found: string; allowed: string; message: string },
): YamlFile {
  const { line, ...issue } = problem;
  const problems = [fileProblem({ path: [], ...issue, isKey: false }, { file, line })];
  return { value: undefined, problems, lineOf: () => 1 };
}

/** Reads at most 1 MiB, whatever size the file system reports. Throws an error with a message for people. */
function readBounded(file: string): string {
  const descriptor = openFile(file);
  try {
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      length += count;
      if (length > bytesMax) throw new Error("must be at most 1 MiB, got more");
      if (count === 0) return bytes.toString("utf8", 0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function openFile(file: string): number {
  try {
    if (statSync(file).isFile()) return openSync(file, "r");
  } catch (error) {
    throw new Error(`cannot be opened: ${describeFailure(error)}`, { cause: error });
  }
  // Reading a pipe could block forever, and a reload could not read it again.
  throw new Error("must be a regular file, got a folder, a pipe or a device");
}

function describeFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission denied for the user that runs rolecall";
  return errorMessage(error);
}

/**
 * Whether a token is nested deeper than `max`. Not recursive, because it protects the recursive parser from such
 * documents.
 */
function isTooDeep(top: CST.Token, max: number): boolean {
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

/**
 * Returns where the value at a path is in the text: the position of its key. If the path does not exist, that of the
 * innermost value on the way.
 */
function offsetAt(path: ConfigPath, { contents }: Document, { targets }: YamlSurvey): number {
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

/** What one walk through a YAML document finds. Offsets are positions in the text. */
interface YamlSurvey {
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
function surveyDocument(document: Document): YamlSurvey {
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
function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

/** Returns the position where a node begins, if it was parsed from a text. */
function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
