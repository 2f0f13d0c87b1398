/** `npm run mutants`: makes mutants of the judgement and the probers, and looks for a test that fails with each. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { problemsOf, readEquivalents, reasonsOf } from "./equivalent.ts";
import { Compiler } from "./compiler.ts";
import { Hunt, type Baseline, type Verdict } from "./hunt.ts";
import { prepare, type Project } from "./project.ts";
import type { Mutant } from "./mutant.ts";
import { fileReports, renderMutant, renderReport } from "./report.ts";
import { Results, type Result } from "./results.ts";
import { sourceFiles } from "./sources.ts";

const { values } = parseArgs({
  options: {
    file: { type: "string", default: "." },
    mutant: { type: "string" },
    skip: { type: "string" },
    slowest: { type: "string", default: "1000" },
    seeds: { type: "string", default: "1..10" },
    for: { type: "string" },
    work: { type: "string", default: join(tmpdir(), "rolecall-mutants") },
    list: { type: "boolean", default: false },
    survivors: { type: "boolean", default: false },
    thorough: { type: "boolean", default: false },
  },
});
const write = (text: string): void => void process.stdout.write(text);
const listPath = "proof/mutants/equivalent.yaml";
const startMs = performance.now();

interface StoredBaseline {
  readonly sources: string;
  readonly everything: string;
  readonly baseline: Baseline;
}

/** The baseline of these tests, measured or as measured before. */
async function baselineOf(project: Project, hunt: Hunt): Promise<Baseline> {
  const path = join(values.work, "baseline.json");
  const sources = [...project.digests.values()].join(" ");
  const stored = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as StoredBaseline) : null;
  const isSame = stored?.sources === sources;
  if (isSame && stored.everything === project.everything) return stored.baseline;
  const baseline = await hunt.measure(isSame ? stored.baseline.tests : [], (line) => write(`${line}\n`));
  for (const { id, problem } of baseline.tests) if (problem !== null) write(`not usable: ${id}: ${problem}\n`);
  writeFileSync(path, JSON.stringify({ sources, everything: project.everything, baseline } satisfies StoredBaseline));
  return baseline;
}

async function run(project: Project): Promise<ReadonlyMap<string, Result>> {
  const { mutants, digests, everything } = project;
  const results = new Results(join(values.work, "results.jsonl"));
  const found = new Map<string, Result>();
  const reasons = reasonsOf(readEquivalents(listPath));
  const pattern = new RegExp(values.file);
  const isSelected = ({ id, file }: Mutant): boolean =>
    pattern.test(file) && (values.mutant === undefined || id.includes(values.mutant));
  const hunt = new Hunt(project.load, {
    isThorough: values.thorough || values.mutant !== undefined,
    slowestMs: Number(values.slowest),
  });
  const compiler = new Compiler();
  let isMeasured = false;
  for (const [number, mutant] of mutants.entries()) {
    const source = digests.get(mutant.file) ?? "";
    const known = results.get(mutant.id, source, everything);
    if (known !== null) found.set(mutant.id, known);
    if ((known !== null && values.mutant === undefined) || !isSelected(mutant) || values.survivors) continue;
    if (reasons.has(mutant.id) && values.mutant === undefined) continue;
    if (values.for !== undefined && performance.now() - startMs > Number(values.for) * 1_000) break;
    if (!isMeasured) hunt.use(await baselineOf(project, hunt));
    isMeasured = true;
    const inFile = [...mutants.keys()].filter((one) => mutants[one]?.file === mutant.file);
    const verdict = await verdictOn(mutant, number, { hunt, compiler, inFile });
    const result = { id: mutant.id, ...verdict, source, everything };
    results.add(result);
    found.set(mutant.id, result);
    if (verdict.killedBy === null) write(`survived: ${renderMutant(mutant)}\n`);
    else if (values.mutant !== undefined)
      write(`killed: ${mutant.id}\n  by ${verdict.killedBy}\n  ${verdict.message}\n`);
  }
  await hunt.stop();
  compiler.close();
  return found;
}

/** The compiler is asked last: it is the slowest. */
async function verdictOn(
  mutant: Mutant,
  number: number,
  { hunt, compiler, inFile }: { hunt: Hunt; compiler: Compiler; inFile: readonly number[] },
): Promise<Verdict> {
  const verdict = await hunt.try(mutant, number, inFile);
  if (verdict.killedBy !== null) return verdict;
  const message = compiler.errorOf(mutant);
  return message === null ? verdict : { killedBy: "compiler", message };
}

// A caller may have given it an even lower priority.
setPriority(Math.max(10, getPriority()));
process.env["MUTANT_SEEDS"] = values.seeds;
mkdirSync(values.work, { recursive: true });
const files = sourceFiles(["src/core/health", "src/core/probe"]);
const project = prepare(files, values.work, values.skip === undefined ? null : new RegExp(values.skip));
const selected = project.mutants.filter(({ file }) => new RegExp(values.file).test(file));
if (values.list) for (const mutant of selected) write(`${renderMutant(mutant)}\n`);
else {
  const list = readEquivalents(listPath);
  for (const problem of problemsOf(list, project.mutants)) {
    write(`${listPath}: ${problem}\n`);
    process.exitCode = 1;
  }
  const reports = fileReports(selected, await run(project), reasonsOf(list));
  write(`\n${renderReport(reports)}`);
  if (reports.some(({ survived }) => survived.length > 0)) process.exitCode = 1;
}
