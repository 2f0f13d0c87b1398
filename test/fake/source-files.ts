import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";

/** One TypeScript file, its paths relative to the folder that was read, with forward slashes. */
export interface SourceFile {
  readonly file: string;
  /** The folder that holds it, `.` at the top. */
  readonly folder: string;
  /** Its part of the program: the first two parts of its path in `core/`, the first one elsewhere. */
  readonly top: string;
  readonly text: string;
  /** The files it imports by relative paths, types included. */
  readonly imports: readonly string[];
}

/** Reads all TypeScript files below a folder. */
export function readSources(root: string): readonly SourceFile[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => {
      const file = name.split(sep).join(posix.sep);
      const text = readFileSync(join(root, name), "utf8");
      return { file, folder: dirname(file), top: topOf(file), text, imports: importsOf(file, text) };
    });
}

/** The part of the program that a file belongs to, by its path. */
export function topOf(file: string): string {
  return /^core\/[^/]+|^[^/]+/.exec(file)?.[0] ?? "";
}

function importsOf(file: string, text: string): readonly string[] {
  const specifiers = [...text.matchAll(/(?:^|\n)(?:import|export)[^;]*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
  return specifiers.filter((name) => name.startsWith(".")).map((name) => posix.join(dirname(file), name));
}

/**
 * The names that a file declares and exports. Re-exports are left out: they are the same name with the same meaning.
 */
export function exportedNames(text: string): readonly string[] {
  const declaration =
    /^export (?:default )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z0-9_$]+)/gm;
  return [...new Set([...text.matchAll(declaration)].map(([, name = ""]) => name))];
}

/** The lines of a file without comments, and with every string emptied. */
export function codeOf(text: string): readonly string[] {
  return text
    .replace(/\/\*[^]*?\*\/|`[^`]*`/g, "")
    .split("\n")
    .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\/\/.*$/, ""));
}

/** The cycles of a directed graph, each as a path that ends where it begins. */
export function cyclesOf(nodes: readonly string[], edges: (node: string) => readonly string[]): readonly string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (node: string, path: readonly string[]): void => {
    if (path.includes(node)) cycles.push([...path.slice(path.indexOf(node)), node].join(" -> "));
    if (path.includes(node) || done.has(node)) return;
    for (const next of edges(node)) walk(next, [...path, node]);
    done.add(node);
  };
  for (const node of nodes) walk(node, []);
  return cycles;
}
