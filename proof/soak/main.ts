/**
 * A soak of the built program: `npm run soak -- [--minutes N] [--seed S] [--work DIR] [--dist FILE] [--report FILE]`.
 * With `--judge`, the soak in the folder `--work` is only judged again. The exit code is 1 if a requirement fails.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readRecords } from "./records.ts";
import { reportOf } from "./report.ts";
import { runSoak } from "./soak.ts";
import { outcomeOf } from "./verdicts.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    work: { type: "string" },
    dist: { type: "string", default: "dist/main.js" },
    report: { type: "string" },
    judge: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes);
if (!(minutes >= 1)) throw new Error(`Cannot run: --minutes must be at least 1, got ${values.minutes}`);
const folder = values.work ?? mkdtempSync(join(tmpdir(), "rolecall-soak-"));
// The children end with the process.
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));
if (!values.judge) {
  process.stdout.write(`soak of ${minutes} min, seed ${values.seed}, in ${folder}\n`);
  await runSoak({ minutes, seed: Number(values.seed), folder, program: values.dist });
}
const records = readRecords(folder);
const outcome = outcomeOf(records);
for (const { requirement, found, holds } of outcome.verdicts)
  process.stdout.write(`${holds ? "ok    " : "FAILED"} ${requirement}: ${found}\n`);
if (values.report !== undefined) writeFileSync(values.report, reportOf(records, outcome));
process.exit(outcome.holds ? 0 : 1);
