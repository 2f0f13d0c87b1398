/**
 * `npm run switchovers -- --rounds N --routes file,push --patroni 3.0.2,4.1 --work DIR`: seamless switchovers of a real
 * cluster under load. proof/README.md says what must hold. The exit code is 1 if something does not hold, and 2 if the
 * machine lacks something.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../src/cluster/values/error-message.ts";
import { pgbouncer124 } from "../../test/real/lab/pgbouncer.ts";
import { missingProgram, patroni3, patroni4 } from "../../test/real/lab/versions.ts";
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
  },
});
const resultsFile = join(values.work, "results.jsonl");
const programs = { "3.0.2": patroni3, "4.1": patroni4 };

if (values.report) console.log(reportOf(resultsIn(resultsFile)));
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
  const pgbouncer = pgbouncer124().found;
  if ("notRun" in pgbouncer) return refuse(`this machine must have PgBouncer 1.24: ${pgbouncer.notRun}`);
  mkdirSync(values.work, { recursive: true });
  const untilMs = performance.now() + seconds * 1_000;
  let bad = 0;
  for (const version of versions) {
    const found = version in programs ? programs[version as keyof typeof programs]() : { notRun: "not known" };
    if ("notRun" in found) return refuse(`this machine must have Patroni ${version}: ${found.notRun}`);
    for (const route of chosen.filter(isRoute)) {
      if (performance.now() >= untilMs) continue;
      const lab = { patroni: found.command, pgbouncer: pgbouncer.path, route, version };
      bad += await play({ ...lab, rounds, transactions, untilMs, onRound: printRound });
    }
  }
  console.log(reportOf(resultsIn(resultsFile)));
  return bad > 0 ? 1 : 0;
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

function resultsIn(file: string): readonly SeriesResult[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as SeriesResult);
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
