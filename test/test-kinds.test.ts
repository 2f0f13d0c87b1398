/** Which list a test file is of follows from its name (test/run.ts): here the names are compared with the imports. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { join } from "node:path";
import { readSources, type SourceFile } from "./fake/source-files.ts";

/** The smoke tests of `npm test`, and what each starts. */
const smokeTests: Readonly<Record<string, string>> = {
  "test/core/program/program.smoke.test.ts":
    "the built program: each command, a service with a worker and its page, a guardian",
};

/** Modules of tests that run a program without being a reason to name a file `*.process.test.ts`, and why. */
const shortPrograms: Readonly<Record<string, string>> = {
  "test/fake/certificates.ts": "openssl writes a certificate",
  "test/fake/valid-haproxy.ts": "haproxy -c checks a file",
};

const sources = ["test", "proof"].flatMap((root) =>
  readSources(root).map((source) => ({
    ...source,
    file: join(root, source.file),
    imports: source.imports.map((name) => join(root, name)),
  })),
);
const byFile = new Map(sources.map((source) => [source.file, source]));
const tests = sources.filter(({ file }) => file.endsWith(".test.ts") && !file.startsWith("test/real/"));
const isNamed = (kind: string, { file }: SourceFile): boolean => file.endsWith(`.${kind}.test.ts`);

/** What a module imports of `node:child_process`, without types. */
function startersOf({ text }: SourceFile): readonly string[] {
  const names = [...text.matchAll(/^import (?!type )([^;]*?) from "node:(?:child_process|cluster)";/gm)].flatMap(
    ([, list = ""]) => list.replaceAll(/[{}\s]/g, " ").split(","),
  );
  return names.map((name) => name.trim()).filter((name) => name !== "" && !name.startsWith("type "));
}

/** The modules of `test/` that a test file imports, itself first. Those of proof and bench start programs on demand. */
function reachedBy(source: SourceFile, reached = new Set<SourceFile>()): ReadonlySet<SourceFile> {
  if (reached.has(source)) return reached;
  reached.add(source);
  const runtime = new Set(
    [...source.text.matchAll(/^import (?!type )[^;]*? from "(\.[^"]+)";/gm)].map(([, name = ""]) =>
      join(source.file, "..", name),
    ),
  );
  for (const name of source.imports.filter((imported) => runtime.has(imported))) {
    const imported = byFile.get(name);
    if (imported !== undefined && name.startsWith("test/") && !name.startsWith("test/real/"))
      reachedBy(imported, reached);
  }
  return reached;
}

/** Why a file has to be `*.process.test.ts`: the module that starts programs and runs on beside the test. */
function startsPrograms(source: SourceFile): readonly string[] {
  return [...reachedBy(source)]
    .filter((module) => !(module.file in shortPrograms))
    .filter((module) => startersOf(module).some((name) => !["spawnSync", "execFileSync"].includes(name)))
    .map(({ file }) => file);
}

describe("the kinds of tests", () => {
  test("no file of npm test starts programs, except the smoke tests", () => {
    const listed = tests.filter((source) => !["process", "long", "smoke"].some((kind) => isNamed(kind, source)));
    assert.ok(listed.length > 400, `${listed.length} files`);
    const found = listed.flatMap((source) => startsPrograms(source).map((module) => `${source.file}: ${module}`));
    assert.deepEqual(found, []);
  });

  test("the smoke tests are those listed, and start programs", () => {
    const smoke = tests.filter((source) => isNamed("smoke", source));
    assert.deepEqual(
      smoke.map(({ file }) => file),
      Object.keys(smokeTests),
    );
    for (const source of smoke) assert.notDeepEqual(startsPrograms(source), [], source.file);
  });

  test("a file that is named after workers runs with those of its list", () => {
    for (const source of tests.filter((candidate) => isNamed("workers", candidate)))
      assert.ok(source.imports.includes("test/fake/worker-counts.ts"), source.file);
  });

  test("the modules that run short programs exist and run them", () => {
    for (const file of Object.keys(shortPrograms)) {
      const module = byFile.get(file);
      assert.ok(module !== undefined && startersOf(module).length > 0, file);
    }
  });
});
