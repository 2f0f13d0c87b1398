/**
 * `npm run bench [-- NAME…]`: measures, prints one table, and ends with 1 if a bound is missed or a row is broken.
 * `--guard` checks a short run against the bounds in bench/guard.json, which leave room for a noisy machine.
 * `npm run bench -- outage [OPTIONS]` is a bench of its own: see outage/run.ts.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { complaints, underGuard, type Bounds } from "./guard.ts";
import { rowsOf, type Row, type RowMaker, type Rounds } from "./row.ts";
import { allocation } from "./rows/allocation.ts";
import { costOfAudit } from "./rows/audit.ts";
import { costOfBursts } from "./rows/bursts.ts";
import { coldStart } from "./rows/cold.ts";
import { againstPatroni, memory, latencyBesideProbing } from "./rows/core.ts";
import { costCurve } from "./rows/curve.ts";
import { guardedLatencyByDefault, latencyByDefault, worstSecondByDefault } from "./rows/default.ts";
import {
  latencyBesideAbuse,
  latencyBesideHostileNodes,
  latencyBesidePages,
  latencyBesideScrapes,
  latencyBesideXdsAbuse,
} from "./rows/disturbance.ts";
import { changesForEnvoys } from "./rows/envoys.ts";
import { costOfFleet } from "./rows/fleet.ts";
import { costOfFollowing } from "./rows/follow.ts";
import { loadBesideSwitchover } from "./rows/failover.ts";
import { costOfVerdicts } from "./rows/verdicts.ts";
import { massFailover } from "./rows/mass-failover.ts";
import { mixedLoad } from "./rows/mixed.ts";
import { livePage } from "./rows/page.ts";
import { costOfProbes } from "./rows/probing.ts";
import { guardedSaturation, saturated } from "./rows/saturated.ts";
import { startToReady } from "./rows/start.ts";
import { manyToReady } from "./rows/start-many.ts";
import { workerThreshold } from "./rows/threshold.ts";
import { throughputAgainstConstants, latencyBesideSweep } from "./rows/throughput.ts";
import { twoWorkers, workerBesideScrapes, workerBesideSweep } from "./rows/workers.ts";
import { isReached, table } from "./table.ts";

const makers: readonly RowMaker[] = [
  againstPatroni,
  throughputAgainstConstants,
  mixedLoad,
  latencyBesideProbing,
  latencyBesideSweep,
  latencyByDefault,
  worstSecondByDefault,
  workerThreshold,
  memory,
  allocation,
  costOfProbes,
  costCurve,
  latencyBesideScrapes,
  latencyBesideAbuse,
  latencyBesideHostileNodes,
  latencyBesidePages,
  latencyBesideXdsAbuse,
  saturated,
  changesForEnvoys,
  loadBesideSwitchover,
  massFailover,
  workerBesideSweep,
  workerBesideScrapes,
  twoWorkers,
  coldStart,
  startToReady,
  manyToReady,
  costOfVerdicts,
  costOfBursts,
  costOfAudit,
  costOfFollowing,
  costOfFleet,
  livePage,
];
const guarded: readonly RowMaker[] = [
  againstPatroni,
  throughputAgainstConstants,
  memory,
  guardedLatencyByDefault,
  guardedSaturation,
];

const [first, ...rest] = process.argv.slice(2);
if (first === "outage") {
  const { outageBench } = await import("./outage/run.ts");
  process.exitCode = (await outageBench(rest)) ? 0 : 1;
} else {
  process.exitCode = (await rows()) ? 0 : 1;
}

/** Measures rows, as the command line says. Returns whether all bounds are reached. */
function rows(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: { guard: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const unknown = positionals.find((chosen) => !makers.some(({ name }) => name === chosen));
  if (unknown !== undefined)
    throw new Error(
      `Cannot measure: name must be one of ${makers.map(({ name }) => name).join(", ")}, outage, got ${unknown}`,
    );
  return values.guard ? guard() : bench(positionals);
}

/** Measures the rows named on the command line, or all. Returns whether all bounds are reached. */
async function bench(positionals: readonly string[]): Promise<boolean> {
  const measured: Row[] = [];
  for (const maker of makers.filter(({ name }) => positionals.length === 0 || positionals.includes(name)))
    measured.push(...(await measure(maker, { count: 3, seconds: 4, settleMs: 1_000 })));
  process.stdout.write(`${table(measured)}\n`);
  return measured.every(isReached);
}

/** Measures the guarded rows. A row that misses its bound is measured once more, as the machine may have been busy. */
async function guard(): Promise<boolean> {
  const bounds = JSON.parse(readFileSync("bench/guard.json", "utf8")) as Bounds;
  const rounds = { count: 3, seconds: 1, settleMs: 300 };
  const measured: Row[] = [];
  for (const maker of guarded) {
    const found = await measure(maker, rounds);
    const isMissed = found.some(
      (row) => "broken" in row || ("figure" in row && !isReached({ ...row, bound: bounds[row.name] ?? null })),
    );
    measured.push(...(isMissed ? await measure(maker, rounds) : found));
  }
  const judged = underGuard(measured, bounds);
  process.stdout.write(`${table(judged)}\n`);
  const messages = complaints(judged);
  for (const line of messages) process.stderr.write(`${line}\n`);
  return messages.length === 0;
}

async function measure(maker: RowMaker, rounds: Rounds): Promise<readonly Row[]> {
  process.stderr.write(`measuring ${maker.name}\n`);
  return rowsOf(maker, rounds);
}
