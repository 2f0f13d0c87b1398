/**
 * `npm run bench [-- WORD…]`: measures, prints one table, and ends with 1 when a bound is missed or a row is broken.
 * `--guard` holds a short run of the figures in bench/guard.json against those alone, which leave room for a noisy machine.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { complaints, underGuard, type Bounds } from "./guard.ts";
import { rowsOf, type Row, type RowMaker, type Rounds } from "./row.ts";
import { coldStart } from "./rows/cold.ts";
import { againstPatroni, memory, tailBesideProbing } from "./rows/core.ts";
import { costCurve } from "./rows/curve.ts";
import { tailBesideAbuse, tailBesidePages, tailBesideScrapes } from "./rows/disturbance.ts";
import { stormBesideSwitchover } from "./rows/failover.ts";
import { costOfVerdicts } from "./rows/judge.ts";
import { mixedStorms } from "./rows/mixed.ts";
import { costOfProbes } from "./rows/probing.ts";
import { againstConstants, tailBesideSweep } from "./rows/storms.ts";
import { twoWorkers, workerBesideScrapes, workerBesideSweep } from "./rows/workers.ts";
import { isReached, table } from "./table.ts";

const makers: readonly RowMaker[] = [
  againstPatroni,
  againstConstants,
  mixedStorms,
  tailBesideProbing,
  tailBesideSweep,
  memory,
  costOfProbes,
  costCurve,
  tailBesideScrapes,
  tailBesideAbuse,
  tailBesidePages,
  stormBesideSwitchover,
  workerBesideSweep,
  workerBesideScrapes,
  twoWorkers,
  coldStart,
  costOfVerdicts,
];
const guarded: readonly RowMaker[] = [againstPatroni, againstConstants, memory];

const { values, positionals } = parseArgs({
  options: { guard: { type: "boolean", default: false } },
  allowPositionals: true,
});
const unknown = positionals.find((word) => !makers.some((maker) => maker.word === word));
if (unknown !== undefined)
  throw new Error(`Cannot measure ${unknown} as it must be one of ${makers.map(({ word }) => word).join(", ")}`);
process.exitCode = (await (values.guard ? guard() : bench())) ? 0 : 1;

/** Measures what is asked for, all of it where nothing is. @returns whether all bounds are reached */
async function bench(): Promise<boolean> {
  const rows: Row[] = [];
  for (const maker of makers.filter(({ word }) => positionals.length === 0 || positionals.includes(word)))
    rows.push(...(await measure(maker, { count: 3, seconds: 4, settleMs: 1_000 })));
  process.stdout.write(`${table(rows)}\n`);
  return rows.every(isReached);
}

/** Measures what is guarded. What misses its bound is measured once more, as another may have used the machine just then. */
async function guard(): Promise<boolean> {
  const bounds = JSON.parse(readFileSync("bench/guard.json", "utf8")) as Bounds;
  const rounds = { count: 3, seconds: 1, settleMs: 300 };
  const rows: Row[] = [];
  for (const maker of guarded) {
    const found = await measure(maker, rounds);
    const isMissed = found.some(
      (row) => "broken" in row || ("figure" in row && !isReached({ ...row, bound: bounds[row.name] ?? null })),
    );
    rows.push(...(isMissed ? await measure(maker, rounds) : found));
  }
  const judged = underGuard(rows, bounds);
  process.stdout.write(`${table(judged)}\n`);
  const against = complaints(judged);
  for (const line of against) process.stderr.write(`${line}\n`);
  return against.length === 0;
}

async function measure(maker: RowMaker, rounds: Rounds): Promise<readonly Row[]> {
  process.stderr.write(`measuring ${maker.word}\n`);
  return rowsOf(maker, rounds);
}
