/**
 * `npm run losses -- --each N --kinds A,B --setups 1,2 --work DIR`: losses of the primary of a real cluster under load,
 * behind PgBouncers whose clients rolecall holds (`hold_on_loss`); with `--unheld` the same without holds; with
 * `--network-faults N` no loss, but N faults between rolecall and the nodes. proof/README.md says what must hold. The exit code is 1 if something does not hold, and 2 if the machine lacks something.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../../src/core/cluster/values/error-message.ts";
import { pgbouncer118, pgbouncer124, pgbouncer126, type PgbouncerProgram } from "../../../test/real/lab/pgbouncer.ts";
import { noLocks } from "../../../test/real/lab/patroni.ts";
import { type Found, missingProgram, patroni3, patroni4 } from "../../../test/real/lab/versions.ts";
import { Cluster } from "../../../test/real/lab/cluster.ts";
import { Lab } from "../lab.ts";
import { type Compared, comparedTable, compareLosses } from "./compare.ts";
import type { FaultLab } from "../faults/fault-lab.ts";
import { holdFaultLab, holdFaults, holdSteps, playHoldFault } from "./hold-faults.ts";
import { type LossKind, lossKinds } from "./loss-kinds.ts";
import { type LossSetup, lossPlan, lossSetups, setupName } from "./loss-plan.ts";
import { lossReportOf, type LossSeries } from "./loss-report.ts";
import { type LossResult, playLoss } from "./loss-round.ts";
import { playNetworkFaults } from "./network-faults.ts";
import { NodeNetwork } from "./node-network.ts";

const { values } = parseArgs({
  options: {
    each: { type: "string", default: "10" },
    kinds: { type: "string", default: lossKinds.join(",") },
    setups: { type: "string", default: lossSetups.map((_, at) => at + 1).join(",") },
    work: { type: "string", default: join(tmpdir(), "rolecall-losses") },
    for: { type: "string", default: "1000000" },
    unheld: { type: "boolean", default: false },
    compare: { type: "boolean", default: false },
    faults: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    "network-faults": { type: "string" },
    report: { type: "boolean", default: false },
  },
});
/** How many rows are named of those that something is wrong with. */
const shownRows = 10;
const resultsFile = join(values.work, "losses.jsonl");
const patronis: Readonly<Record<LossSetup["patroni"], () => Found>> = { "3.0.2": patroni3, "4.1": patroni4 };
const pgbouncers: Readonly<Record<string, () => PgbouncerProgram>> = {
  "1.18": pgbouncer118,
  "1.24": pgbouncer124,
  "1.26": pgbouncer126,
};

if (values.report) console.log(lossReportOf(series()));
else if (values.compare) process.exitCode = await compare();
else if (values["network-faults"] !== undefined)
  process.exitCode = await networkFaults(Number(values["network-faults"]));
else if (values.faults) process.exitCode = await playHoldFaults();
else process.exitCode = await start();

async function start(): Promise<number> {
  const [each, seconds] = [Number(values.each), Number(values.for)];
  if (!Number.isInteger(each) || each < 1) return refuse(`--each must be a whole number from 1, got ${values.each}`);
  if (!(seconds > 0)) return refuse(`--for must be a number of seconds above 0, got ${values.for}`);
  const kinds = values.kinds.split(",");
  const unknown = kinds.filter((kind) => !isKind(kind));
  if (unknown.length > 0) return refuse(`--kinds must be of ${lossKinds.join(", ")}, got ${unknown.join(", ")}`);
  const chosen = values.setups.split(",").map(Number);
  const missing = missingProgram();
  if (missing !== undefined) return refuse(`this machine must have ${missing}, got none`);
  mkdirSync(values.work, { recursive: true });
  const untilMs = performance.now() + seconds * 1_000;
  let bad = 0;
  for (const [at, { setup: wanted, kinds: own }] of lossPlan(kinds.filter(isKind), each).entries()) {
    if (!chosen.includes(at + 1) || own.length === 0 || performance.now() >= untilMs) continue;
    const setup = availableOf(wanted);
    const programs = programsOf(setup);
    if ("notRun" in programs) {
      console.log(`not run: ${setupName(setup)}: ${programs.notRun}`);
      continue;
    }
    bad += await play(setup, own, { ...programs, untilMs });
  }
  console.log(lossReportOf(series()));
  return bad > 0 ? 1 : 0;
}

/** Where there is no PgBouncer 1.26, the third one is a 1.24, too: the results say so. */
function availableOf(setup: LossSetup): LossSetup {
  const has126 = "path" in pgbouncer126().found;
  return { ...setup, poolers: setup.poolers.map((version) => (version === "1.26" && !has126 ? "1.24" : version)) };
}

/** Losses that three PgBouncers meet at the same time, `--each` of each kind. Prints the table of bench/outage.md. */
async function compare(): Promise<number> {
  const [patroni, pgbouncer] = [patroni3(), pgbouncer124().found];
  if ("notRun" in patroni) return refuse(`this machine must have Patroni 3.0.2: ${patroni.notRun}`);
  if ("notRun" in pgbouncer) return refuse(`this machine must have PgBouncer 1.24: ${pgbouncer.notRun}`);
  const all: Compared[] = [];
  const untilMs = performance.now() + Number(values.for) * 1_000;
  const what = { kinds: values.kinds.split(",").filter(isKind), rounds: Number(values.each), untilMs };
  await compareLosses({ patroni: patroni.command, pgbouncer: pgbouncer.path }, what, (compared) => {
    all.push(compared);
    console.log(JSON.stringify(compared));
  });
  console.log(comparedTable(all));
  return 0;
}

/** Each fault at each step of a hold; those only whose `FAULT, STEP` contains the text of `--only`. */
async function playHoldFaults(): Promise<number> {
  const [patroni, pgbouncer] = [patroni3(), pgbouncer124().found];
  if ("notRun" in patroni) return refuse(`this machine must have Patroni 3.0.2: ${patroni.notRun}`);
  if ("notRun" in pgbouncer) return refuse(`this machine must have PgBouncer 1.24: ${pgbouncer.notRun}`);
  if (process.getuid?.() !== 0) return refuse("faults cut a network, which needs root");
  const untilMs = performance.now() + Number(values.for) * 1_000;
  const cells = holdFaults.flatMap((spec) => holdSteps.map((step) => ({ spec, step })));
  let [bad, faultLab] = [0, null as FaultLab | null];
  for (const [at, cell] of cells.entries()) {
    if (!`${cell.spec.name}, ${cell.step}`.includes(values.only) || performance.now() >= untilMs) continue;
    // Only after the loss of a node another one becomes writable.
    const loss = at % 2 === 0 && cell.step !== "writable" ? "postgres killed" : "node killed";
    try {
      faultLab ??= await holdFaultLab({ patroni: patroni.command, pgbouncer: pgbouncer.path });
      const { fault, step, pausedMs, failed, longestMs, errors, broken } = await playHoldFault(faultLab, {
        ...cell,
        loss,
      });
      bad += broken.length;
      console.log(
        `${broken.length === 0 ? "ok    " : "FAILED"} ${fault}, after ${step} (${loss}): paused ${Math.round(pausedMs)} ms, ` +
          `${failed} failed, longest wait ${Math.round(longestMs)} ms${[...broken, ...errors].map((text) => `\n  ${text}`).join("")}`,
      );
      if (broken.length === 0) continue;
    } catch (error) {
      bad += 1;
      console.log(`FAILED ${cell.spec.name}, after ${cell.step}: ${errorMessage(error).slice(0, 3_000)}`);
    }
    await faultLab?.stop();
    faultLab = null;
  }
  await faultLab?.stop();
  return bad > 0 ? 1 : 0;
}

/** Load for `--for` seconds, with faults of the network between rolecall and the nodes: nobody may be held. */
async function networkFaults(count: number): Promise<number> {
  const [patroni, pgbouncer] = [patroni3(), pgbouncer124().found];
  if (!Number.isInteger(count) || count < 1)
    return refuse(`--network-faults must be a whole number from 1, got ${values["network-faults"]}`);
  if ("notRun" in patroni) return refuse(`this machine must have Patroni 3.0.2: ${patroni.notRun}`);
  if ("notRun" in pgbouncer) return refuse(`this machine must have PgBouncer 1.24: ${pgbouncer.notRun}`);
  const seconds = values.for === "1000000" ? 3_600 : Number(values.for);
  const programs = { patroni: patroni.command, pgbouncer: pgbouncer.path };
  const { text, broken } = await playNetworkFaults(programs, { count, seconds }, (line) => console.log(line));
  console.log([text, ...broken.map((one) => `FAILED ${one}`)].join("\n"));
  return broken.length > 0 ? 1 : 0;
}

interface Programs {
  readonly patroni: readonly [string, ...string[]];
  readonly poolers: readonly string[];
}

function programsOf({ patroni, poolers }: LossSetup): Programs | { readonly notRun: string } {
  const found = patronis[patroni]();
  if ("notRun" in found) return found;
  const paths: string[] = [];
  for (const version of poolers) {
    const program = pgbouncers[version]?.().found ?? { notRun: `PgBouncer ${version} is not known` };
    if ("notRun" in program) return program;
    paths.push(program.path);
  }
  return { patroni: found.command, poolers: paths };
}

/** @returns how much does not hold */
async function play(
  setup: LossSetup,
  kinds: readonly LossKind[],
  { patroni, poolers, untilMs }: Programs & { readonly untilMs: number },
): Promise<number> {
  const { ttl, clients } = setup;
  const isHeld = !values.unheld;
  console.log(`${setupName(setup)}${isHeld ? "" : ", not held"}: ${kinds.length} losses`);
  const losses: LossResult[] = [];
  let lab: Lab | undefined;
  // Only a node with a network of its own can lose all of its packets.
  const network = kinds.includes("dropped packets") ? new NodeNetwork() : null;
  let placed: Cluster | undefined;
  try {
    placed = network === null ? undefined : await Cluster.start(patroni, false, noLocks, () => () => {}, network);
    lab = await Lab.start({
      patroni: placed ?? patroni,
      pgbouncer: poolers,
      route: "file",
      settings: { max_client_conn: 500, default_pool_size: 20 },
      ...(isHeld ? { pooler: { hold_on_loss: "60s" } } : {}),
    });
    // Every commit is written, so that a killed PostgreSQL loses none that was acknowledged.
    const parameters = { synchronous_commit: "local" };
    await lab.cluster.configure({ ttl, loop_wait: ttl === 10 ? 2 : 5, retry_timeout: 3, postgresql: { parameters } });
    const unnamed = lab.poolers.filter((_, at) => setup.poolers[at] === "1.18").map(({ port }) => port);
    const load = lab.load(clients, clients > 100 ? 50 : 5, unnamed);
    const lost = new Set<string>();
    for (const kind of kinds) {
      if (performance.now() >= untilMs) break;
      const result = await playLoss(lab, load, { kind, clients, seconds: ttl + 100, lost, network });
      losses.push(result);
      print(result);
    }
    await load.stop();
    const audit = await load.audit((await lab.cluster.leader()).databasePort);
    const beyond = audit.lost.filter((row) => !lost.has(row));
    const broken = [
      ...named(audit.doubled, "is there twice"),
      ...named(beyond, "was acknowledged, and replication cannot have lost it"),
    ];
    const [doubled, lostBeyond] = [audit.doubled.length, beyond.length];
    record({ setup, isHeld, losses, doubled, lost: audit.lost.length, lostBeyond, broken });
    return broken.length + losses.reduce((sum, { broken: own }) => sum + own.length, 0);
  } catch (error) {
    console.log(`FAILED ${errorMessage(error)}`);
    record({
      setup,
      isHeld,
      losses,
      doubled: 0,
      lost: 0,
      lostBeyond: 0,
      broken: [errorMessage(error)],
      isCompared: false,
    });
    return 1;
  } finally {
    await lab?.stop();
    await placed?.stop();
    network?.stop();
  }
}

/** Some of the rows that something is wrong with, and how many more there are. */
function named(rows: readonly string[], what: string): readonly string[] {
  const shown = rows.slice(0, shownRows).map((row) => `${row} ${what}`);
  return rows.length > shownRows ? [...shown, `${rows.length - shownRows} more: each ${what}`] : shown;
}

function record(result: LossSeries): void {
  appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
}

function print({
  kind,
  leader,
  after,
  transactions,
  failed,
  inFlight,
  begun,
  longestMs,
  holds,
  pausedAfterMs,
  failedLater,
  lostByReturn,
  stallMs,
  errors,
  broken,
}: LossResult): void {
  console.log(
    `${broken.length === 0 ? "ok    " : "FAILED"} ${kind} (${leader}, then ${after}): ${failed} failed of ${transactions}, ` +
      `${inFlight} in flight, ${begun} begun in 100 ms, longest wait ${Math.round(longestMs)} ms, ${holds} holds, ` +
      `paused after ${pausedAfterMs ?? "-"} ms, stalls of up to ${Math.round(stallMs)} ms` +
      (failedLater === 0 ? "" : `, ${failedLater} failed later`) +
      goneText(lostByReturn, leader) +
      broken.map((text) => `\n  ${text}`).join("") +
      errors.map(([error, count]) => `\n    ${count} ${error}`).join(""),
  );
}

function goneText(rows: number, leader: string): string {
  return rows === 0 ? "" : `, ${rows} rows gone: ${leader} took the lock back on its old timeline`;
}

function series(): readonly LossSeries[] {
  if (!existsSync(resultsFile)) return [];
  const lines = readFileSync(resultsFile, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as LossSeries);
}

function isKind(name: string): name is LossKind {
  return lossKinds.some((kind) => kind === name);
}

function refuse(problem: string): number {
  console.error(`Cannot run: ${problem}`);
  return 2;
}
