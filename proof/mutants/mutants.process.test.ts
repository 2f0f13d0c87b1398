import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { parse } from "yaml";
import { problemsOf, readEquivalents } from "./equivalent.ts";
import { instrumented } from "./instrument.ts";
import type { Mutant } from "./mutant.ts";
import { mutantsIn } from "./project.ts";
import { fileReports, renderReport } from "./report.ts";
import { Results } from "./results.ts";
import { sourceFiles } from "./sources.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-mutants-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const { examples } = parse(readFileSync("test/spec/mutants.yaml", "utf8")) as {
  readonly examples: readonly { readonly title: string; readonly code: string; readonly becomes: readonly string[] }[];
};
const everyFile = sourceFiles(["src/core/health", "src/core/probe"]);
const exampleFiles = examples.map(({ code }, at) => write(`examples/example${at}.ts`, code));
// One start of the compiler for all.
const all = mutantsIn([...exampleFiles, ...everyFile]);

describe("the mutants of an example", () => {
  for (const [at, { title, code, becomes }] of examples.entries()) {
    const own = all.filter(({ file }) => file.endsWith(`example${at}`));
    test(title, () => {
      const found = own.map(({ id, start, end, replacement }) => {
        const name = id.slice(id.indexOf(":") + 1);
        return `${name} | ${`${code.slice(0, start)}${replacement}${code.slice(end)}`.replaceAll(/\s+/g, " ").trim()}`;
      });
      assert.deepEqual(found, becomes);
    });
    test(`${title}: all in one file, of which one is active at a time`, () => {
      const compiled = (text: string): string =>
        transformSync(text, { loader: "ts", format: "esm", minifySyntax: true, minifyWhitespace: true }).code;
      const text = instrumented(code, own, 0);
      for (const number of [-1, ...own.keys()]) {
        const one = own[number];
        const alone =
          one === undefined ? code : `${code.slice(0, one.start)}(${one.replacement})${code.slice(one.end)}`;
        const selected = text.replaceAll(/\bmutant\((\d+)\)/g, (_, other: string) => String(Number(other) === number));
        assert.equal(compiled(selected), compiled(alone), one?.id ?? "none");
      }
    });
  }
});

test("each mutant has an id of its own", () => {
  assert.ok(all.length > 3_000, String(all.length));
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
});

test("each explained mutant exists and has a reason", () => {
  assert.deepEqual(problemsOf(readEquivalents("proof/mutants/equivalent.yaml"), all), []);
});

test("an explanation of code that has changed, or of no mutant, is a problem", () => {
  const [mutant] = all;
  assert.ok(mutant);
  const { id, code } = mutant;
  assert.deepEqual(problemsOf([{ mutants: [id], code, reason: "why" }], all), []);
  assert.deepEqual(problemsOf([{ mutants: [id], code: "x", reason: "why" }], all), [`${id}: its code is ${code}`]);
  assert.deepEqual(problemsOf([{ mutants: ["x"], code, reason: "why" }], all), ["x: no such mutant"]);
  assert.deepEqual(problemsOf([{ mutants: [id, id], code, reason: " " }], all), [
    `${id}: no reason`,
    `${id}: no reason`,
    `${id}: listed twice`,
  ]);
});

test("a kill holds while the file is unchanged, and a survivor while nothing is changed", () => {
  const path = join(folder, "results.jsonl");
  const results = new Results(path);
  const same = { message: "", source: "s1", everything: "e1" };
  results.add({ id: "killed", killedBy: "a test", ...same });
  results.add({ id: "alive", killedBy: null, ...same });
  writeFileSync(path, `${readFileSync(path, "utf8")}{"id":"alive","kil`);
  const again = new Results(path);
  assert.equal(again.get("killed", "s1", "e2")?.killedBy, "a test");
  assert.equal(again.get("killed", "s2", "e1"), null);
  assert.equal(again.get("alive", "s1", "e1")?.killedBy, null);
  assert.equal(again.get("alive", "s1", "e2"), null);
});

test("the report counts what became of each mutant", () => {
  const mutant = (id: string): Mutant => ({ id, file: "f", start: 0, end: 1, code: "a", replacement: "b" });
  const killer = (id: string, killedBy: string | null): [string, { id: string; killedBy: string | null }] => [
    id,
    { id, killedBy },
  ];
  const results = [killer("1", "t"), killer("2", "mutants/campaign-seeds.js > seed 1"), killer("3", "compiler")];
  const reports = fileReports(
    ["1", "2", "3", "4", "5"].map(mutant),
    new Map(
      [...results, killer("4", null)].map(([id, one]) => [id, { ...one, message: "", source: "", everything: "" }]),
    ),
    new Map([["4", "why"]]),
  );
  assert.match(
    renderReport(reports),
    /\| f \| 5 \| 1 \| 1 \| 1 \| 1 \| 1 \|\n\| all \| 5 \| 1 \| 1 \| 1 \| 1 \| 1 \|\n\n5\n/,
  );
});

const limit = `export function isOld(ageMs: number, maxMs: number): boolean {
  while (maxMs === 0) return false;
  return ageMs > maxMs;
}
`;
const limitTest = `import assert from "node:assert/strict";
import { test } from "node:test";
import { isOld } from "../../../src/core/health/limit.js";
test("is old", () => assert.equal(isOld(3, 2), true));
test("is not old", () => assert.equal(isOld(1, 2), false));
test("has no limit", () => assert.equal(isOld(1, 0), false));
`;

/** Runs the command in a project with one mutated file and one test file. */
function runMutants(): { readonly status: number | null; readonly output: string } {
  const main = fileURLToPath(new URL("./main.js", import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, "--work", join(folder, "work"), "--seeds", ""],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  return { status, output: stdout + stderr };
}

test("an unexplained survivor makes the run fail, and an explained one does not", () => {
  for (const path of ["src/core/probe", "test/spec"]) mkdirSync(join(folder, path), { recursive: true });
  write("tsconfig.json", '{ "include": ["src"], "compilerOptions": { "types": [] } }');
  write("package.json", '{ "type": "module" }');
  write("src/core/health/limit.ts", limit);
  write("build/src/core/health/limit.js", transformSync(limit, { loader: "ts" }).code);
  write("build/test/core/health/limit.test.js", limitTest);
  write("proof/mutants/equivalent.yaml", "[]");
  const first = runMutants();
  assert.match(first.output, /\| core\/health\/limit \| 6 \| 5 \| 0 \| 0 \| 0 \| 1 \|/);
  assert.match(
    first.output,
    /core\/health\/limit:isOld:compare\.2:gte\n {2}- ageMs > maxMs\n {2}\+ \(ageMs\) >= \(maxMs\)/,
  );
  assert.equal(first.status, 1);
  write(
    "proof/mutants/equivalent.yaml",
    '- mutants: ["core/health/limit:isOld:compare.2:gte"]\n  code: ageMs > maxMs\n  reason: Ages are never whole.\n',
  );
  const second = runMutants();
  assert.match(second.output, /\| all \| 6 \| 5 \| 0 \| 0 \| 1 \| 0 \|/);
  assert.equal(second.status, 0);
});
