/** Many runs, one after the other. Each appends its result to a file, so that an interrupted campaign continues. */
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, type Result } from "../check/check.ts";
import { readHistory } from "../history.ts";
import { JepsenCluster } from "../machines/cluster.ts";
import { type FaultKind, planOf } from "../plan/plan.ts";
import { runOnce } from "./run.ts";

/** The result of one run. */
export interface RunResult extends Omit<Result, "verdict"> {
  readonly seed: number;
  readonly hasDcs: boolean;
  /** `broken`: the test itself could not complete the run. */
  readonly verdict: Result["verdict"] | "broken";
  readonly problem: string | null;
}

export interface CampaignOptions {
  readonly runs: number;
  /** Of the first run; each further one adds 1. */
  readonly seed: number;
  readonly folder: string;
  readonly kinds: readonly FaultKind[];
  /** No run begins after this many seconds. */
  readonly seconds: number;
  /** Whether histories without a violation are kept too. */
  readonly keepsAll: boolean;
}

/** A cluster is used for so many runs: each run leaves WAL and logs. */
const runsPerCluster = 8;

export function resultsIn(folder: string): readonly RunResult[] {
  const file = resultsOf(folder);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as RunResult);
}

/** Checks the kept histories again, as the checker is now, and replaces their results. */
export function recheck(folder: string): void {
  const results = resultsIn(folder).map((result) => {
    const file = historyOf(folder, result.seed);
    return result.verdict === "broken" || !existsSync(file) ? result : { ...result, ...check(readHistory(file)) };
  });
  writeFileSync(resultsOf(folder), results.map((result) => `${JSON.stringify(result)}\n`).join(""));
}

/** @returns how many runs of this call violated a promise or could not be completed */
export async function campaign({ runs, seed: first, folder, ...options }: CampaignOptions): Promise<number> {
  mkdirSync(join(folder, "histories"), { recursive: true });
  const done = new Set(resultsIn(folder).map(({ seed }) => seed));
  let cluster: JepsenCluster | undefined;
  let used = 0;
  let bad = 0;
  const endMs = performance.now() + options.seconds * 1_000;
  for (let seed = first; seed < first + runs && performance.now() < endMs; seed += 1) {
    if (done.has(seed)) continue;
    const plan = planOf(seed, options.kinds);
    const file = historyOf(folder, seed);
    console.log(`seed ${seed}: ${plan.faults.length} faults, ${plan.hasDcs ? "with" : "without"} a watch of etcd`);
    let result: RunResult;
    let isWhole = false;
    try {
      if (cluster === undefined) {
        cluster = new JepsenCluster(join(folder, "cluster"));
        cluster.startDatabases();
        used = 0;
      }
      const run = await runOnce({ cluster, seed, plan, file, log: console.log });
      isWhole = run.isWhole;
      result = { seed, hasDcs: plan.hasDcs, ...check(run.history), problem: null };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);

      result = { seed, hasDcs: plan.hasDcs, verdict: "broken", problem, violations: [], counts: {}, maxima: {} };
    }
    appendFileSync(resultsOf(folder), `${JSON.stringify(result)}\n`);
    print(result, file);
    if (result.verdict === "violated" || result.verdict === "broken") bad += 1;
    if (result.verdict === "violated") keepLogs(folder, seed);
    else if (!options.keepsAll && result.violations.length === 0) rmSync(file, { force: true });
    used += 1;
    if (!isWhole || used >= runsPerCluster) {
      cluster?.stop();
      if (!isWhole) keepLogs(folder, seed);
      cluster = undefined;
    }
  }
  cluster?.stop();
  return bad;
}

function resultsOf(folder: string): string {
  return join(folder, "results.jsonl");
}

function historyOf(folder: string, seed: number): string {
  return join(folder, "histories", `${seed}.jsonl`);
}

function print({ seed, verdict, violations, problem }: RunResult, file: string): void {
  console.log(`seed ${seed}: ${verdict}${problem === null ? "" : `: ${problem.slice(0, 2_000)}`}`);
  for (const { promise, text } of violations.slice(0, 5)) console.log(`  ${promise}: ${text}`);
  if (violations.length > 0) console.log(`  ${violations.length} in all; history: ${file}`);
}

/** Keeps the logs of all programs and the evidence of both rolecalls beside the history of the run. */
function keepLogs(folder: string, seed: number): void {
  const kept = join(folder, "histories", `${seed}-logs`);
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept);
  for (const name of ["e1", "e2", "e3", "pg1", "pg2", "pg3", "r1", "r2", "b1", "b2"]) {
    const log = join(folder, "cluster", `${name}.log`);
    if (existsSync(log)) appendFileSync(join(kept, `${name}.log`), readFileSync(log));
    const evidence = join(folder, "cluster", `${name}.history`);
    if (existsSync(evidence)) cpSync(evidence, join(kept, `${name}.history`), { recursive: true });
  }
}
