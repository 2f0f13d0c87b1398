/** The simulation of a fleet from the command line. */
import { parseArgs } from "node:util";
import { Trace } from "../sim/trace.ts";
import {
  faultNamesOf,
  type FleetFaultKind,
  fleetCommandOf,
  fleetFaultKinds,
  fleetPlanOf,
  type FleetRunId,
} from "./fleet-plan.ts";
import { type FleetRunResult, FleetSimulation } from "./fleet-simulation.ts";
import { FleetTally } from "./fleet-tally.ts";
import { smaller } from "../sim/shrink.ts";

const { values } = parseArgs({
  options: {
    fleet: { type: "boolean", default: true },
    clusters: { type: "string", default: "8" },
    full: { type: "string", default: "2" },
    nodes: { type: "string", default: "3" },
    serving: { type: "string" },
    seed: { type: "string" },
    seeds: { type: "string" },
    seconds: { type: "string", default: "60" },
    kinds: { type: "string" },
    keep: { type: "string" },
    trace: { type: "boolean", default: false },
    hash: { type: "boolean", default: false },
    "no-shrink": { type: "boolean", default: false },
    "stop-at": { type: "string", default: "20" },
    for: { type: "string" },
  },
  allowPositionals: true,
});
const write = (text: string): void => void process.stdout.write(text);
const endMs = values.for === undefined ? Infinity : performance.now() + numberOf("for", values.for) * 1_000;
let isStopped = false;
process.once("SIGINT", () => (isStopped = true));

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new Error(`Cannot run: --${name} must be a number, got ${text}`);
  return value;
}

function kindsWanted(names: string | undefined): readonly FleetFaultKind[] {
  const wanted = names?.split(",");
  const found = fleetFaultKinds.filter((kind) => wanted?.includes(kind) ?? true);
  if (wanted !== undefined && found.length !== wanted.length)
    throw new Error(`Cannot run: --kinds must be some of ${fleetFaultKinds.join()}, got ${names ?? ""}`);
  return found;
}

function* runsWanted(): Generator<FleetRunId> {
  const at = process.argv.indexOf("--fleet");
  const named = Number(process.argv[at + 1]);
  const edges = Number.isInteger(named) && named > 0 ? named : 5;
  const kept = values.keep === undefined ? null : new Set(values.keep === "none" ? [] : values.keep.split(","));
  const [first = "1", last = first] = (values.seeds ?? values.seed ?? "1..20").split("..");
  for (let seed = numberOf("seeds", first); seed <= numberOf("seeds", last); seed += 1)
    yield {
      seed,
      edges,
      clusters: numberOf("clusters", values.clusters),
      full: numberOf("full", values.full),
      nodes: numberOf("nodes", values.nodes),
      serving: values.serving === undefined ? edges : numberOf("serving", values.serving),
      seconds: numberOf("seconds", values.seconds),
      kinds: kindsWanted(values.kinds),
      kept,
    };
}

async function runOne(id: FleetRunId, tally: FleetTally, trace: Trace | null): Promise<FleetRunResult> {
  const result = await new FleetSimulation(id, fleetPlanOf(id), {
    armed: tally.armed,
    injected: tally.injected,
    trace,
  }).run();
  tally.add(result);
  return result;
}

async function report(id: FleetRunId, { violations, story }: FleetRunResult): Promise<void> {
  const [first] = violations;
  if (first === undefined) return;
  const isBrokenWith = async (names: readonly string[]): Promise<boolean> => {
    const result = await runOne({ ...id, kept: new Set(names) }, new FleetTally(), null);
    return result.violations.some(({ rule }) => rule === first.rule);
  };
  const isReplay = values.seed !== undefined;
  const kept =
    id.kept === null && !values["no-shrink"] ? await smaller(faultNamesOf(fleetPlanOf(id)), isBrokenWith) : null;
  const lines = violations.map(
    ({ rule, node, detail, atMs }) => `VIOLATION ${rule} ${node ?? ""} at ${(atMs / 1_000).toFixed(2)} s: ${detail}`,
  );
  write(
    [
      ...lines,
      ...(isReplay ? story.map((line) => `  ${line}`) : []),
      ` repeat: ${fleetCommandOf(id)}`,
      ...(kept === null ? [] : [` shrunk: ${fleetCommandOf({ ...id, kept: new Set(kept) })}`]),
      "",
      "",
    ].join("\n"),
  );
}

const total = new FleetTally();
let violating = 0;
for (const id of runsWanted()) {
  const trace = values.trace || values.hash ? new Trace(values.trace ? write : null) : null;
  const result = await runOne(id, total, trace);
  if (trace !== null) write(`seed ${id.seed}: ${trace.lines} lines, sha256 ${trace.digest()}\n`);
  if (result.violations.length > 0) {
    violating += 1;
    await report(id, result);
  }
  if (isStopped || performance.now() > endMs || violating >= numberOf("stop-at", values["stop-at"])) break;
}
write(`${total.lines().join("\n")}\n`);
process.exitCode = total.broken.size === 0 ? 0 : 1;
