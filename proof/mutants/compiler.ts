import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { API } from "typescript/unstable/sync";
import type { Mutant } from "./mutant.ts";

/** Whether the compiler accepts mutants. One that it refuses cannot be in a program: it is as good as killed. */
export class Compiler {
  readonly #changed = new Map<string, string>();
  #api: API | null = null;

  /** Returns the first error of the file with the mutant; `null` if it compiles. */
  errorOf({ file, start, end, replacement }: Mutant): string | null {
    this.#api ??= new API({ fs: { readFile: (path) => this.#changed.get(path) } });
    const path = resolve("src", `${file}.ts`);
    const source = readFileSync(path, "utf8");
    this.#changed.set(path, `${source.slice(0, start)}(${replacement})${source.slice(end)}`);
    const snapshot = this.#api.updateSnapshot({
      openProjects: [resolve("tsconfig.json")],
      fileChanges: { changed: [path] },
    });
    try {
      const program = snapshot.getProject(resolve("tsconfig.json"))?.program;
      if (program === undefined) throw new Error("Cannot check a mutant: tsconfig.json must name a project");
      const [first] = [...program.getSyntacticDiagnostics(path), ...program.getSemanticDiagnostics(path)];
      return first === undefined ? null : first.text;
    } finally {
      this.#changed.delete(path);
      snapshot.dispose();
    }
  }

  /** Ends the compiler's process. */
  close(): void {
    this.#api?.close();
    this.#api = null;
  }
}
