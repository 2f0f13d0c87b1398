/**
 * `npm run bench -- outage [OPTIONS]`: changes the leader of a real cluster repeatedly, and measures how long the pools
 * of real balancers cannot write. Prints progress, and writes the report.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { balancerPrograms } from "../../test/real/lab/balancer-programs.ts";
import { missingProgram, patroni3, patroni4 } from "../../test/real/lab/versions.ts";
import { changeLeader } from "./events.ts";
import { figuresOf, type PoolSummary, summaries } from "./figures.ts";
import { OutageLab } from "./outage-lab.ts";
import { urgentMs } from "./pool-client.ts";
import { pollMs } from "./pollers.ts";
import { baseline, poolPlans } from "./pools.ts";
import { report, type Conditions } from "./report.ts";
import type { LeaderChange } from "./samples.ts";
import { machineLine, versionLines } from "./versions.ts";

const usage = `Usage: npm run bench -- outage [OPTIONS]

  --switchovers N    how many switchovers, 0 to 500 (default 30)
  --kills N          how many times the leader is killed, 0 to 100 (default 10)
  --pools A,B        only these pools (default all): ${poolPlans.map(({ name }) => name).join(", ")}
  --slowness N       the factor of every pause of the clients, 1 to 20 (default 1): all pools at once open more
                     connections than two cores can serve
  --patroni VERSION  4.1 or 3.0.2 (default 4.1)
  --report FILE      where the report is written (default bench/outage.md)
  --raw FILE         where every sample is written, one event a line (default: nowhere)
  --label TEXT       what limits the worth of the figures; the report states it
  --guard A/B=N      fails if the worst write of pool A is later than N times the worst of pool B, 0.1 to 10
  --help             show this help

HAPROXY_3 names the program of a newer HAProxy, PG_EXPORTER that of pg_exporter, ENVOY that of Envoy (default: from
the Python package index). Without them their pools are not run.
`;

/** More events than this that failed end the bench. */
const failuresMax = 3;

/** Runs the bench. @returns whether every event was recorded */
export async function outageBench(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      switchovers: { type: "string", default: "30" },
      kills: { type: "string", default: "10" },
      pools: { type: "string", default: "" },
      slowness: { type: "string", default: "1" },
      patroni: { type: "string", default: "4.1" },
      report: { type: "string", default: "bench/outage.md" },
      raw: { type: "string" },
      label: { type: "string", default: "" },
      guard: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return true;
  }
  const counts = { switchover: count("switchovers", values.switchovers, 500), kill: count("kills", values.kills, 100) };
  const pools = values.pools.split(",").filter(Boolean);
  const slowness = count("slowness", values.slowness, 20, 1);
  const unknown = pools.find((pool) => !poolPlans.some(({ name }) => name === pool));
  if (unknown !== undefined)
    throw new Error(
      `Cannot measure: --pools must name ${poolPlans.map(({ name }) => name).join(", ")}, got ${unknown}`,
    );
  const guard = values.guard === undefined ? null : guardOf(values.guard);
  const patroni = patroniCommand(values.patroni);
  const balancers = balancerPrograms();
  const lab = await OutageLab.start({ patroni, balancers, pools, slowness });
  try {
    for (const { name, reason } of lab.notRun) say(`${name}: not run: ${reason}`);
    const changes = await allChanges(lab, counts, values.raw);
    const conditions: Conditions = {
      versions: versionLines(patroni, balancers),
      machine: machineLine(),
      load: loadavg()[2] ?? 0,
      writeEveryMs: urgentMs * slowness,
      yesEveryMs: pollMs * slowness,
      label: values.label,
      notRun: [...lab.notRun, ...missing(balancers)],
      titles: new Map(poolPlans.map(({ name, title }) => [name, title])),
      baseline,
    };
    const text = report(changes, lab.pools, conditions);
    writeFileSync(values.report, `${text}${sectionOfLosses(values.report)}`);
    process.stdout.write(text);
    const isGood = guard === null || isWithin(guard, summaries(changes, lab.pools, baseline));
    return isGood && changes.length === counts.switchover + counts.kill;
  } finally {
    await lab.stop();
  }
}

/** Switchovers and kills in turn, as far as both are wanted, so that both see the same conditions. */
async function allChanges(
  lab: OutageLab,
  counts: Readonly<Record<LeaderChange["kind"], number>>,
  raw: string | undefined,
): Promise<readonly LeaderChange[]> {
  const all = counts.switchover + counts.kill;
  const changes: LeaderChange[] = [];
  let failures = 0;
  for (let number = 1, kills = 0; number <= all; number += 1) {
    const isKill = Math.floor((number * counts.kill) / all) > kills;
    if (isKill) kills += 1;
    try {
      const change = await changeLeader(lab, number, isKill ? "kill" : "switchover");
      changes.push(change);
      if (raw !== undefined) appendFileSync(raw, `${JSON.stringify(change)}\n`);
      say(`${number} of ${all}: ${lineOf(lab, change)}`);
    } catch (error) {
      failures += 1;
      say(`${number} of ${all}: not recorded: ${error instanceof Error ? error.message : String(error)}`);
      if (failures > failuresMax) throw error;
    }
  }
  return changes;
}

/** A bound of one pool by another one of the same run: the machine's speed cancels out. */
interface Guard {
  readonly pool: string;
  readonly by: string;
  readonly ratio: number;
}

function guardOf(text: string): Guard {
  const [, pool = "", by = "", ratio = ""] = /^([^/]+)\/([^=]+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const guard = { pool, by, ratio: Number(ratio) };
  const isKnown = [pool, by].every((name) => poolPlans.some((plan) => plan.name === name));
  if (!isKnown || guard.ratio < 0.1 || guard.ratio > 10)
    throw new Error(`Cannot measure: --guard must be as rolecall-dcs-runtime/rolecall=1.5, got ${text}`);
  return guard;
}

function isWithin({ pool, by, ratio }: Guard, measured: readonly PoolSummary[]): boolean {
  const [own, other] = [worstWrite(measured, pool), worstWrite(measured, by)];
  const isGood = own !== undefined && other !== undefined && own <= ratio * other;
  say(
    `${isGood ? "ok" : "FAILED"}: the worst write of ${pool} came after ${Math.round(own ?? Number.NaN)} ms, that of ${by} after ${Math.round(other ?? Number.NaN)} ms; at most ${ratio} times`,
  );
  return isGood;
}

/** In ms after the promotion; infinite if an event had no write. */
function worstWrite(measured: readonly PoolSummary[], name: string): number | undefined {
  const found = measured.find(({ pool }) => pool === name);
  return found === undefined || found.withoutWrite === 0 ? found?.write?.worst : Infinity;
}

/** One event in a line: each pool's delay of the write. */
function lineOf({ pools }: OutageLab, change: LeaderChange): string {
  const delays = pools.map((pool) => `${pool.name} ${Math.round(figuresOf(change, pool).writeMs ?? Number.NaN)}`);
  return `${change.kind} ${change.from} to ${change.to}, first write after ms: ${delays.join(", ")}`;
}

function missing(balancers: ReturnType<typeof balancerPrograms>): Conditions["notRun"] {
  return balancers.flatMap(({ title, found }) => ("notRun" in found ? [{ name: title, reason: found.notRun }] : []));
}

function patroniCommand(version: string): readonly [string, ...string[]] {
  const lack = missingProgram();
  if (lack !== undefined) throw new Error(`Cannot measure: ${lack} must be installed`);
  if (version !== "4.1" && version !== "3.0.2")
    throw new Error(`Cannot measure: --patroni must be 4.1 or 3.0.2, got ${version}`);
  const found = version === "4.1" ? patroni4() : patroni3();
  if ("notRun" in found) throw new Error(`Cannot measure: Patroni ${version} must be available: ${found.notRun}`);
  return found.command;
}

function count(name: string, text: string, most: number, least = 0): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < least || value > most)
    throw new Error(`Cannot measure: --${name} must be an integer from ${least} to ${most}, got ${text}`);
  return value;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** What `npm run losses -- --compare` has measured: another program, whose table stays. */
function sectionOfLosses(file: string): string {
  const known = existsSync(file) ? readFileSync(file, "utf8") : "";
  const at = known.indexOf("\n## Losses behind PgBouncer");
  return at === -1 ? "" : known.slice(at);
}
