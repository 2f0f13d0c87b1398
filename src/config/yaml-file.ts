import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { LineCounter, parseDocument, Parser } from "yaml";
import { type ConfigPath, describeFound } from "./issue.ts";
import { type ConfigProblem, fileProblem } from "./problem.ts";
import { duplicateKeys, isTooDeep, lineOf } from "./yaml-lines.ts";

/** A file read as YAML: what it says, what is wrong with it as YAML, and where each value stands. */
export interface YamlFile {
  /** `undefined` when the file says nothing that could be read on. */
  readonly value: unknown;
  readonly problems: readonly ConfigProblem[];
  /** The line (from 1) of the value at a path, or of the nearest value around it. */
  readonly lineOf: (path: ConfigPath) => number;
}

const bytesMax = 1024 * 1024;
const nestedMax = 64;
const aliasesMax = 100;
const syntaxErrorsMax = 100;

/** Reads a file of at most 1 MiB as one YAML document. Whatever is wrong with it is a problem in the result; it never throws. */
export function readYamlFile(file: string): YamlFile {
  let text: string;
  try {
    text = readBounded(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return unreadable(file, { line: null, found: reason, allowed: "a file of at most 1 MiB that can be read", message: reason });
  }
  return parseYaml(text, file);
}

/** Reads a text as {@link readYamlFile} does; `file` is the name that its problems carry. */
export function parseYaml(text: string, file: string): YamlFile {
  try {
    return parseUnguarded(text, file);
  } catch (error) {
    // The parser recurses and counts aliases: what it cannot take, it throws.
    const found = error instanceof Error ? error.message : String(error);
    return unreadable(file, { line: 1, found, allowed: "a YAML document", message: `cannot be read as YAML: ${found}` });
  }
}

function parseUnguarded(text: string, file: string): YamlFile {
  const lines = new LineCounter();
  const tokens = [];
  let errors = 0;
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    tokens.push(token);
    if (token.type === "error") errors += 1;
    if (errors >= syntaxErrorsMax) break;
  }
  const tooDeep = tokens.find((token) => isTooDeep(token, nestedMax));
  if (tooDeep !== undefined) {
    const allowed = `nested at most ${nestedMax} deep`;
    return unreadable(file, {
      line: lines.linePos(tooDeep.offset).line,
      found: "more",
      allowed,
      message: `must be ${allowed}: it is more`,
    });
  }
  if (errors >= syntaxErrorsMax) {
    const problems = tokens.flatMap((token) =>
      token.type === "error" ? [syntaxProblem(token.message, { file, line: lines.linePos(token.offset).line })] : [],
    );
    return { value: undefined, problems, lineOf: () => 1 };
  }
  const documentLines = new LineCounter();
  const document = parseDocument(text, { lineCounter: documentLines, uniqueKeys: false, prettyErrors: false, logLevel: "silent" });
  const syntax = [...document.errors, ...document.warnings].map((error) =>
    syntaxProblem(error.message, { file, line: documentLines.linePos(error.pos[0]).line }),
  );
  const place = { document, lines: documentLines };
  if (syntax.length > 0) return { value: undefined, problems: syntax, lineOf: (path) => lineOf(path, place) };
  const twice = duplicateKeys(place).map(({ key, line }) =>
    fileProblem(
      {
        path: [key],
        found: describeFound(key),
        allowed: "each key once",
        message: `says the key ${describeFound(key)} twice`,
        isKey: true,
      },
      { file, line },
    ),
  );
  return { value: document.toJS({ maxAliasCount: aliasesMax }), problems: twice, lineOf: (path) => lineOf(path, place) };
}

function syntaxProblem(message: string, place: { file: string; line: number }): ConfigProblem {
  const found = message.slice(0, 200).replaceAll(/\s+/g, " ");
  return fileProblem({ path: [], found, allowed: "YAML", message: `cannot be read as YAML: ${found}`, isKey: false }, place);
}

function unreadable(file: string, said: { line: number | null; found: string; allowed: string; message: string }): YamlFile {
  const { line, ...issue } = said;
  const problem = fileProblem({ path: [], ...issue, isKey: false }, { file, line });
  return { value: undefined, problems: [problem], lineOf: () => 1 };
}

/** Reads at most 1 MiB, whatever the file's size claims to be. Throws with a sentence for people. */
function readBounded(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    throw new Error(`cannot be opened: ${describeFailure(error)}`, { cause: error });
  }
  try {
    if (fstatSync(descriptor).isDirectory()) throw new Error("must be a file: it is a folder");
    const bytes = Buffer.alloc(bytesMax + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      length += count;
      if (length > bytesMax) throw new Error("must be at most 1 MiB: it is more");
      if (count === 0) return bytes.toString("utf8", 0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function describeFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "it may not be read by this user";
  return error instanceof Error ? error.message : String(error);
}
