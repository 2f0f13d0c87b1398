import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { API } from "typescript/unstable/sync";
import type { SourceFile } from "typescript/unstable/ast";

/** Returns the TypeScript files of folders, sorted. */
export function sourceFiles(folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => join(folder, file)),
    )
    .sort();
}

/** Parses files and passes the syntax tree of each to `use`. A tree is valid only meanwhile. */
export function withSyntaxTrees<Result>(
  files: readonly string[],
  use: (source: SourceFile, file: string) => Result,
): readonly Result[] {
  const api = new API();
  try {
    const paths = files.map((file) => resolve(file));
    const snapshot = api.updateSnapshot({ openFiles: paths });
    return paths.map((path, at) => {
      const source = snapshot.getDefaultProjectForFile(path)?.program.getSourceFile(path);
      if (source === undefined) throw new Error(`Cannot parse ${path}: the compiler must know the file`);
      return use(source, files[at] ?? path);
    });
  } finally {
    api.close();
  }
}
