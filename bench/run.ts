/** `npm run bench [-- WORD…]`: measures, prints one table, and ends with 1 when a bound is missed. */
import type { Row, RowMaker } from "./row.ts";
import { againstPatroni, memory, tailBesideProbing } from "./rows/core.ts";
import { costOfProbes } from "./rows/probing.ts";
import { isReached, table } from "./table.ts";

const makers: readonly RowMaker[] = [againstPatroni, tailBesideProbing, memory, costOfProbes];
const words = process.argv.slice(2);
const unknown = words.find((word) => !makers.some((maker) => maker.word === word));
if (unknown !== undefined) throw new Error(`Cannot measure ${unknown} as it must be one of ${makers.map(({ word }) => word).join(", ")}`);

const rows: Row[] = [];
for (const maker of makers) {
  if (words.length > 0 && !words.includes(maker.word)) continue;
  process.stderr.write(`measuring ${maker.word}\n`);
  rows.push(...(await maker.run({ count: 3, seconds: 4 })));
}
process.stdout.write(`${table(rows)}\n`);
process.exitCode = rows.every(isReached) ? 0 : 1;
