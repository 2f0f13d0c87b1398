/**
 * `npm run switchovers -- --rounds N --routes file,push --patroni 3.0.2,4.1 --work DIR`: seamless switchovers of a real
 * cluster under load; with `--faults` one with each fault at each state. proof/README.md says what must hold. The exit code is 1 if something does not hold, and 2 if the
 * machine lacks something.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../src/core/cluster/values/error-message.ts";
import { pgbouncer124 } from "../../test/real/lab/pgbouncer.ts";
import { envoyProgram } from "../../test/real/lab/balancer-programs.ts";
import { type Found, missingProgram, patroni3, patroni4 } from "../../test/real/lab/versions.ts";
import { playFaults } from "./faults/campaign.ts";
import type { CellResult } from "./faults/cell.ts";
import type { FaultSpec } from "./faults/fault-list.ts";
import { faultReportOf } from "./faults/fault-report.ts";
import { type Route, routes } from "./lab.ts";
import { reportOf } from "./report.ts";
import type { RoundResult } from "./round.ts";
import { playSeries, type SeriesResult } from "./series.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    transactions: { type: "string", default: "10000" },
    routes: { type: "string", default: routes.join(",") },
    patroni: { type: "string", default: "3.0.2,4.1" },
    work: { type: "string", default: join(tmpdir(), "rolecall-switchovers") },
    for: { type: "string", default: "1000000" },
    report: { type: "boolean", default: false },
    faults: { type: "boolean", default: false },
    only: { type: "string", default: "" },
  },
});
const resultsFile = join(values.work, "results.jsonl");
const faultsFile = join(values.work, "faults.jsonl");
const programs = { "3.0.2": patroni3, "4.1": patroni4 };

if (values.report) console.log(values.faults ? faultReportOf(cells()) : reportOf(series()));
else process.exitCode = await start();

async function start(): Promise<number> {
  const [rounds, transactions, seconds] = [values.rounds, values.transactions, values.for].map(Number);
  if (!isCount(rounds)) return refuse(`--rounds must be a whole number from 1, got ${values.rounds}`);
  if (!isCount(transactions)) return refuse(`--transactions must be a whole number from 1, got ${values.transactions}`);
  if (seconds === undefined || !(seconds > 0))
    return refuse(`--for must be a number of seconds above 0, got ${values.for}`);
  const [chosen, versions] = [values.routes.split(","), values.patroni.split(",")];
  const unknown = chosen.filter((route) => !isRoute(route));
  if (unknown.length > 0) return refuse(`--routes must be of ${routes.join(", ")}, got ${unknown.join(", ")}`);
  const missing = missingProgram();
  if (missing !== undefined) return refuse(`this machine must have ${missing}, got none`);
  const envoy = envoyProgram("newest");
  if (chosen.includes("envoy") && "notRun" in envoy) return refuse(`this machine must have Envoy: ${envoy.notRun}`);
  const pgbouncer = pgbouncer124().found;
  if ("notRun" in pgbouncer) return refuse(`this machine must have PgBouncer 1.24: ${pgbouncer.notRun}`);
  mkdirSync(values.work, { recursive: true });
  const untilMs = performance.now() + seconds * 1_000;
  let bad = 0;
  if (values.faults) return startFaults(versions[0] ?? "", pgbouncer.path, untilMs);
  for (const version of versions) {
    const found = patroniOf(version);
    if ("notRun" in found) return refuse(`this machine must have Patroni ${version}: ${found.notRun}`);
    for (const route of chosen.filter(isRoute)) {
      if (performance.now() >= untilMs) continue;
      const lab = { patroni: found.command, pgbouncer: pgbouncer.path, route, version };
      bad += await play({ ...lab, rounds, transactions, untilMs, onRound: printRound });
    }
  }
  console.log(reportOf(series()));
  return bad > 0 ? 1 : 0;
}

/** Plays the faults with one version of Patroni, and those only whose `NAME, STATE` contains the text of `--only`. */
async function startFaults(version: string, pgbouncer: string, untilMs: number): Promise<number> {
  const found = patroniOf(version);
  if ("notRun" in found) return refuse(`this machine must have Patroni ${version}: ${found.notRun}`);
  if (process.getuid?.() !== 0) return refuse("faults cut a network, which needs root");
  let bad = 0;
  const onResult = (result: CellResult): void => {
    appendFileSync(faultsFile, `${JSON.stringify({ ...result, patroni: version })}\n`);
    bad += result.broken.length;
    const { fault, state, met, outcome, pausedMs, resumedBy, failed, broken } = result;
    console.log(
      `${broken.length === 0 ? "ok    " : "FAILED"} ${fault}, ${state} (after ${met}): ${outcome}, paused ` +
        `${Math.round(pausedMs)} ms, resumed by ${resumedBy.join(", ")}, ${failed} failed${broken.map((text) => `\n  ${text}`).join("")}`,
    );
  };
  const isWanted = ({ name }: FaultSpec, state: string): boolean => `${name}, ${state}`.includes(values.only);
  await playFaults({ patroni: found.command, pgbouncer, isWanted, untilMs, onResult });
  console.log(faultReportOf(cells()));
  return bad > 0 ? 1 : 0;
}

function patroniOf(version: string): Found {
  return version in programs ? programs[version as keyof typeof programs]() : { notRun: "not known" };
}

/** @returns how many faults there were */
async function play(options: Parameters<typeof playSeries>[0]): Promise<number> {
  console.log(`Patroni ${options.version}, ${options.route}: ${options.rounds} switchovers`);
  try {
    const result = await playSeries(options);
    appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
    for (const fault of result.faults) console.log(`FAILED ${fault}`);
    return result.faults.length;
  } catch (error) {
    console.log(`FAILED ${errorMessage(error)}`);
    return 1;
  }
}

function printRound(round: RoundResult, faults: readonly string[]): void {
  const { leader, candidate, transactions, worstWaitMs, demotionMs, shares, stallMs } = round;
  const steps = Object.entries(shares ?? {}).map(([step, ms]) => `${step} ${Math.round(ms)}`);
  console.log(
    `${faults.length === 0 ? "ok    " : "FAILED"} ${leader} to ${candidate}: ${transactions} transactions, ` +
      `longest wait ${Math.round(worstWaitMs)} ms, demotion ${Math.round(demotionMs ?? Number.NaN)} ms, ` +
      `steps (ms): ${steps.join(", ")}, stalls of up to ${Math.round(stallMs)} ms`,
  );
}

function cells(): readonly CellResult[] {
  return linesIn(faultsFile) as readonly CellResult[];
}

function series(): readonly SeriesResult[] {
  return linesIn(resultsFile) as readonly SeriesResult[];
}

function linesIn(file: string): readonly unknown[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as unknown);
}

function isRoute(name: string): name is Route {
  return routes.some((route) => route === name);
}

function isCount(value: number | undefined): value is number {
  return Number.isInteger(value) && value !== undefined && value >= 1;
}

function refuse(problem: string): number {
  console.error(`Cannot run: ${problem}`);
  return 2;
}
