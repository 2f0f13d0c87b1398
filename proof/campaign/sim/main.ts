/** The deterministic simulation from the command line. */
import { parseArgs } from "node:util";
import { kindsOf } from "../run/scenario.ts";
import { ExecutedFiles } from "./executed-files.ts";
import { ttlsOf } from "../profile.ts";
import { modesOf } from "../world/mode.ts";
import { commandOf, describePlan, planOf, type RunId, ownerLives } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { ReportFile, type ReportedRuns } from "./report-file.ts";
import { Simulation, type RunResult } from "./simulation.ts";
import { Tally } from "./tally.ts";
import { Trace } from "./trace.ts";

/** How long one part of a long run is, in virtual seconds: each has a rolecall and a cluster of its own. */
const partS = 1_200;
/** After how many runs the report is saved. */
const savedEvery = 50;
/** How many runs count which files of `src` are executed: counting is slow. */
const coveredRuns = 40;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    part: { type: "string" },
    seconds: { type: "string" },
    hours: { type: "string" },
    keep: { type: "string" },
    kinds: { type: "string" },
    modes: { type: "string" },
    ttl: { type: "string" },
    follows: { type: "string" },
    trace: { type: "boolean", default: false },
    hash: { type: "boolean", default: false },
    for: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
    coverage: { type: "boolean", default: false },
    "stop-at": { type: "string", default: "20" },
    report: { type: "string" },
  },
});
const kinds = kindsOf(values.kinds ?? null, true);
const modes = modesOf(values.modes ?? null);
const ttls = ttlsOf(values.ttl ?? null);
const follows = ownerLives.find((life) => life === values.follows);
if (values.follows !== undefined && follows === undefined)
  throw new Error(`Cannot run: --follows must be one of ${ownerLives.join(", ")}, got ${values.follows}`);
/** A plan depends on the kinds that it is drawn from. */
const ofKinds = values.kinds === undefined ? "" : ` --kinds ${values.kinds}`;
const write = (text: string): void => void process.stdout.write(text);
let isStopped = false;
const endMs = values.for === undefined ? Infinity : performance.now() + numberOf("for", values.for) * 1_000;
process.once("SIGINT", () => (isStopped = true));

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new Error(`Cannot run: --${name} must be a number, got ${text}`);
  return value;
}

function rangeOf(seeds: string): ReportedRuns {
  const [first = "", last = first] = seeds.split("..");
  const seconds = numberOf("seconds", values.seconds ?? "60");
  return {
    first: numberOf("seeds", first),
    last: numberOf("seeds", last),
    seconds,
    kinds: values.kinds ?? null,
    modes: values.modes ?? null,
    ttl: values.ttl ?? null,
  };
}

function openReport(path: string): ReportFile {
  if (values.seeds === undefined) throw new Error("Cannot write a report: --report must come with --seeds");
  return new ReportFile(path, rangeOf(values.seeds));
}

function* runsWanted(): Generator<RunId> {
  const kept =
    values.keep === undefined ? null : new Set(values.keep === "none" ? [] : values.keep.split(",").map(Number));
  if (values.seeds !== undefined) {
    const { first, last, seconds } = rangeOf(values.seeds);
    for (let seed = reportFile?.next ?? first; seed <= last; seed += 1)
      yield { seed, part: 0, seconds, kept, modes, ttls, follows };
    return;
  }
  const seed = numberOf("seed", values.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  if (values.hours === undefined || values.part !== undefined) {
    yield {
      seed,
      part: numberOf("part", values.part ?? "0"),
      seconds: numberOf("seconds", values.seconds ?? "60"),
      kept,
      modes,
      ttls,
      follows,
    };
    return;
  }
  const parts = Math.max(1, Math.round((numberOf("hours", values.hours) * 3_600) / partS));
  for (let part = 0; part < parts; part += 1) yield { seed, part, seconds: partS, kept, modes, ttls, follows };
}

async function runOne(id: RunId, tally: Tally, trace: Trace | null): Promise<RunResult> {
  const result = await new Simulation(planOf(id, kinds), { armed: tally.armed, injected: tally.injected, trace }).run();
  tally.add(result);
  return result;
}

async function report(id: RunId, { violations, story }: RunResult): Promise<void> {
  const [first] = violations;
  if (first === undefined) return;
  const brokenIn = async (other: RunId): Promise<ReadonlySet<string>> =>
    new Set((await runOne(other, new Tally(), null)).violations.map(({ rule }) => rule));
  const shrunk = id.kept === null && !values["no-shrink"] ? await shrink(id, first.rule, brokenIn, kinds) : id;
  const lines = violations.map(
    ({ rule, node, detail, atMs }) => `VIOLATION ${rule} ${node ?? ""} at ${(atMs / 1_000).toFixed(2)} s: ${detail}`,
  );
  const isReplay = values.keep !== undefined || values.seed !== undefined;
  write(
    [
      ...lines,
      ...describePlan(planOf(shrunk, kinds)),
      ...(isReplay ? story.map((line) => `  ${line}`) : []),
      ` repeat: ${commandOf(id)}${ofKinds}`,
      ...(shrunk === id ? [] : [` shrunk: ${commandOf(shrunk)}${ofKinds}`]),
      "",
      "",
    ].join("\n"),
  );
}

const reportFile = values.report === undefined ? null : openReport(values.report);
const tally = new Tally(reportFile?.tally);
const executed = values.coverage ? new ExecutedFiles(new URL("../../../src/", import.meta.url)) : null;
await executed?.start();
let runs = 0;
let violating = 0;
let lastSeed: number | null = null;
let coverage: Awaited<ReturnType<ExecutedFiles["stop"]>> | null = null;
for (const id of runsWanted()) {
  const trace = values.trace || values.hash ? new Trace(values.trace ? write : null) : null;
  const result = await runOne(id, tally, trace);
  runs += 1;
  if (trace !== null) write(`seed ${id.seed} part ${id.part}: ${trace.lines} lines, sha256 ${trace.digest()}\n`);
  if (result.violations.length > 0) {
    violating += 1;
    reportFile?.violations.push(`${commandOf(id)}${ofKinds}`);
    await report(id, result);
  }
  lastSeed = id.seed;
  if (runs % savedEvery === 0) reportFile?.save(lastSeed, tally.saved());
  if (executed !== null && coverage === null && runs === coveredRuns) coverage = await executed.stop();
  if (isStopped || performance.now() > endMs || violating >= numberOf("stop-at", values["stop-at"])) break;
}
if (lastSeed !== null) reportFile?.save(lastSeed, tally.saved());
if (executed !== null) coverage ??= await executed.stop();
write(`${tally.lines().join("\n")}\n`);
if (coverage !== null) {
  write(`files of src that were executed: ${coverage.executed}; not executed: ${coverage.missing.length}\n`);
  for (const file of coverage.missing) write(`  ${file}\n`);
}
process.exitCode = tally.broken.size === 0 ? 0 : 1;
