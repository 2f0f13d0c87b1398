import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { instrumented } from "./instrument.ts";
import type { Mutant } from "./mutant.ts";
import { mutantsOf } from "./mutator.ts";
import type { Order } from "./protocol.ts";
import { withSyntaxTrees } from "./sources.ts";
import { testFilesFor } from "./test-files.ts";

/** The mutants of some files, and the compiled tests that reach them. */
export interface Project {
  readonly mutants: readonly Mutant[];
  /** The digest of each mutated file, by its path within `src` without its ending. */
  readonly digests: ReadonlyMap<string, string>;
  /** The digest of everything that a result can depend on. */
  readonly everything: string;
  readonly load: Extract<Order, { kind: "load" }>;
}

/** Returns the mutants of files below `src`. */
export function mutantsIn(files: readonly string[]): readonly Mutant[] {
  return withSyntaxTrees(files, (source, file) => mutantsOf(source, nameOf(file))).flat();
}

/**
 * Writes the instrumented files, and finds the tests.
 * @param work a folder outside the project
 * @param skip which test files are left out
 */
export function prepare(files: readonly string[], work: string, skip: RegExp | null): Project {
  const out = join(work, "instrumented");
  rmSync(out, { recursive: true, force: true });
  const mutants = mutantsIn(files);
  const digests = new Map<string, string>();
  let first = 0;
  for (const file of files) {
    const name = nameOf(file);
    const own = mutants.filter((mutant) => mutant.file === name);
    const source = readFileSync(file, "utf8");
    const target = join(out, `${name}.js`);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, instrumented(source, own, first));
    digests.set(name, digestOf([source]));
    first += own.length;
  }
  const mutated = new Set(files.map((file) => resolve("build", "src", `${nameOf(file)}.js`)));
  const missing = [...mutated].find((file) => !existsSync(file));
  if (missing !== undefined) throw new Error(`Cannot run tests: ${missing} must exist; run "npm run build:test" first`);
  const tests = testFilesFor("build", mutated).filter((file) => skip === null || !skip.test(file));
  return {
    mutants,
    digests,
    everything: digestOf([...tests, ...allFiles().map((file) => readFileSync(file, "utf8"))]),
    load: {
      kind: "load",
      places: {
        built: `${pathToFileURL(resolve("build", "src")).href}/`,
        instrumented: `${pathToFileURL(out).href}/`,
        harness: new URL("./harness.js", import.meta.url).href,
      },
      files: tests.map((file) => pathToFileURL(file).href),
      mutants: mutants.length,
      active: -1,
    },
  };
}

/** The path within `src`, without its ending. */
function nameOf(file: string): string {
  return file.replace(/^src\//, "").replace(/\.ts$/, "");
}

function allFiles(): readonly string[] {
  return [join("build", "src"), join("build", "test"), join("test", "spec")].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(js|json|ya?ml)$/.test(file))
      .sort()
      .map((file) => join(folder, file)),
  );
}

/** Returns a digest of texts. */
export function digestOf(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length}:${text}`);
  return hash.digest("hex").slice(0, 16);
}
