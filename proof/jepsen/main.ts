/**
 * `npm run jepsen -- --runs N --seed S --work DIR`: real etcd, Patroni, PostgreSQL, HAProxy and rolecall in network
 * namespaces, with faults. proof/README.md says what it checks.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { reapAtExit, signal } from "../../test/real/lab/reaper.ts";
import { prefix } from "./machines/addresses.ts";
import { missing, removeLeftovers } from "./machines/network.ts";
import { type FaultKind, faultKinds } from "./plan/plan.ts";
import { campaign, recheck, resultsIn } from "./run/campaign.ts";
import { reportOf } from "./run/report.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    work: { type: "string", default: join(tmpdir(), "rolecall-jepsen") },
    kinds: { type: "string", default: faultKinds.join(",") },
    "keep-all": { type: "boolean", default: false },
    for: { type: "string", default: "1000000" },
    report: { type: "boolean", default: false },
    recheck: { type: "boolean", default: false },
  },
});
const lockFile = join(tmpdir(), `${prefix}.pid`);

process.exitCode = values.report || values.recheck ? report() : await start();

function report(): number {
  if (values.recheck) recheck(values.work);
  console.log(reportOf(resultsIn(values.work)));
  return 0;
}

async function start(): Promise<number> {
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
  const kinds = values.kinds.split(",");
  const unknown = kinds.filter((kind) => !faultKinds.some((one) => one === kind));
  if (!Number.isInteger(runs) || runs < 1) return refuse(`--runs must be a whole number from 1, got ${values.runs}`);
  if (!Number.isInteger(seed) || seed < 0) return refuse(`--seed must be a whole number from 0, got ${values.seed}`);
  const seconds = Number(values.for);
  if (!(seconds > 0)) return refuse(`--for must be a number of seconds above 0, got ${values.for}`);
  if (unknown.length > 0) return refuse(`--kinds must be of ${faultKinds.join(", ")}, got ${unknown.join(", ")}`);
  const lacking = missing();
  if (lacking.length > 0) return refuse(`this machine must have ${lacking.join(", ")}`);
  const other = existsSync(lockFile) ? Number(readFileSync(lockFile, "utf8")) : 0;
  if (other > 0 && signal(other, 0)) return refuse(`no other run may be on this machine, got process ${other}`);
  writeFileSync(lockFile, String(process.pid));
  // SIGINT and SIGTERM end this process too; its namespaces are removed last, after what runs in them.
  reapAtExit(() => []);
  process.once("exit", () => {
    removeLeftovers();
    rmSync(lockFile, { force: true });
  });
  const leftovers = removeLeftovers();
  if (leftovers.length > 0) console.log(`removed what an earlier run left: ${leftovers.join(", ")}`);
  mkdirSync(values.work, { recursive: true });
  const wanted = { runs, seed, seconds, kinds: kinds as FaultKind[] };
  const bad = await campaign({ ...wanted, folder: values.work, keepsAll: values["keep-all"] });
  console.log(reportOf(resultsIn(values.work)));
  return bad > 0 ? 1 : 0;
}

function refuse(problem: string): number {
  console.error(`Cannot run: ${problem}`);
  return 2;
}
