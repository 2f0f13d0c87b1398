/**
 * `npm run bench [-- WORD…]`: measures, prints one table, and ends with 1 when a bound is missed.
 * `--guard` holds a short run of the figures in bench/guard.json against those alone, which leave room for a noisy machine.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Row, RowMaker } from "./row.ts";
import { coldStart } from "./rows/cold.ts";
import { againstPatroni, memory, tailBesideProbing } from "./rows/core.ts";
import { tailBesideAbuse, tailBesideScrapes } from "./rows/disturbance.ts";
import { stormBesideSwitchover } from "./rows/failover.ts";
import { costOfVerdicts } from "./rows/judge.ts";
import { costOfProbes } from "./rows/probing.ts";
import { againstConstants, mixedStorms, tailBesideSweep } from "./rows/storms.ts";
import { isReached, table } from "./table.ts";

const makers: readonly RowMaker[] = [
  againstPatroni,
  againstConstants,
  mixedStorms,
  tailBesideProbing,
  tailBesideSweep,
  memory,
  costOfProbes,
  tailBesideScrapes,
  tailBesideAbuse,
  stormBesideSwitchover,
  coldStart,
  costOfVerdicts,
];
const guarded: readonly RowMaker[] = [againstPatroni, againstConstants, memory];
const { values, positionals } = parseArgs({ options: { guard: { type: "boolean", default: false } }, allowPositionals: true });
const unknown = positionals.find((word) => !makers.some((maker) => maker.word === word));
if (unknown !== undefined) throw new Error(`Cannot measure ${unknown} as it must be one of ${makers.map(({ word }) => word).join(", ")}`);

const rows: Row[] = [];
for (const maker of values.guard ? guarded : makers) {
  if (positionals.length > 0 && !positionals.includes(maker.word)) continue;
  process.stderr.write(`measuring ${maker.word}\n`);
  rows.push(...(await maker.run(values.guard ? { count: 3, seconds: 2 } : { count: 3, seconds: 4 })));
}
const judged = values.guard ? underGuard(rows) : rows;
process.stdout.write(`${table(judged)}\n`);
process.exitCode = judged.every(isReached) ? 0 : 1;

/** Only the rows that bench/guard.json names, with its bounds. A name that no row has is an error, or the guard would sleep. */
function underGuard(all: readonly Row[]): readonly Row[] {
  const bounds = JSON.parse(readFileSync("bench/guard.json", "utf8")) as Record<
    string,
    { readonly atLeast: number } | { readonly atMost: number }
  >;
  return Object.entries(bounds).flatMap(([name, bound]) => {
    const row = all.find((candidate) => candidate.name === name || ("notRun" in candidate && name.startsWith(candidate.name)));
    if (row === undefined && positionals.length === 0)
      throw new Error(`Cannot guard "${name}" as bench/guard.json must name a row: there is none`);
    return row === undefined ? [] : ["notRun" in row ? row : { ...row, bound }];
  });
}
