/** One run: faults by plan while clients work, then recovery, then the history. */
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { signal } from "../../../test/real/lab/reaper.ts";
import { HistoryRecorder } from "../client/recorder.ts";
import { nowMs } from "../client/session.ts";
import { bounds } from "../check/bounds.ts";
import { readHistory, type HistoryEvent, type RecoveryEvent } from "../history.ts";
import type { JepsenCluster } from "../machines/cluster.ts";
import { Helper, Observer } from "../machines/helpers.ts";
import { inject } from "../plan/faults.ts";
import { type Plan, type PlannedFault } from "../plan/plan.ts";
import { until } from "../../../test/fake/until.ts";
import { endOf, routesSince } from "./route-log.ts";
import { Truth } from "./truth.ts";

export interface RunOptions {
  readonly cluster: JepsenCluster;
  readonly seed: number;
  readonly plan: Plan;
  /** Gets the history. */
  readonly file: string;
  readonly log: (line: string) => void;
}

/** How long Patroni may take until its cluster is whole. */
const wholeSeconds = 150;
/** Clients go on for this long after all is well, so that the last promises apply. */
const calmMs = 5_000;

/** @returns the history, and whether the cluster may be used again */
export async function runOnce(options: RunOptions): Promise<{ history: readonly HistoryEvent[]; isWhole: boolean }> {
  const parts = ["observer", "clients", "runner"].map((name) => `${options.file}.${name}`);
  const [observerFile = "", clientsFile = "", runnerFile = ""] = parts;
  const observer = new Observer(observerFile);
  const recorder = new HistoryRecorder(runnerFile, null);
  const truth = new Truth(observer);
  let clients: Helper | undefined;
  try {
    const table = await prepare(options, truth);
    const logEnds = options.cluster.balancers.map((balancer) => endOf(balancer));
    clients = new Helper("cl", "clients-main", [clientsFile, table, String(options.seed)]);
    await injectAll(options, { truth, recorder });
    const recovery = await recover(options, truth);
    await sleep(calmMs);
    await clients.stop();
    const leader = await truth.leader();
    const survivors = leader === undefined ? null : await survivorsOf(truth, { leader, table });
    recorder.add({ ...recovery, survivors });
    const locks = await until({ what: "the history of the leader key in etcd", seconds: 60 }, () => truth.locks());
    for (const lock of locks) recorder.add(lock);
    await sleep(500); // HAProxy logs a session at its end
    for (const [at, balancer] of options.cluster.balancers.entries())
      for (const route of routesSince(balancer, logEnds[at] ?? 0)) recorder.add(route);
    return { history: await collect(), isWhole: recovery.servedAtMs !== null };
  } finally {
    await clients?.stop();
    await observer.stop();
    recorder.close();
    for (const part of parts) rmSync(part, { force: true });
  }

  async function collect(): Promise<readonly HistoryEvent[]> {
    await observer.stop();
    rmSync(options.file, { force: true });
    for (const part of parts) appendFileSync(options.file, readFileSync(part));
    return readHistory(options.file);
  }
}

/** Starts rolecall anew and makes a table. @returns its name */
async function prepare({ cluster, seed, plan }: RunOptions, truth: Truth): Promise<string> {
  await cluster.startEdges(plan.hasDcs);
  const evidence = (): string =>
    [...cluster.edges, ...cluster.etcd, ...cluster.nodes.values()].map(({ tail }) => tail).join("\n");
  const wait = { what: "a whole cluster with two instances of rolecall", seconds: 120, evidence };
  const leader = await until(wait, async () => {
    await sleep(250);
    return (await truth.areReady()) ? truth.wholeUnder() : undefined;
  });
  if (cluster.balancers.length === 0) await cluster.startBalancers();
  const table = `run_${seed}`;
  const columns = "writer text, seq int, primary key (writer, seq)";
  await truth.sql(leader, `drop table if exists ${table}`);
  if ((await truth.sql(leader, `create table ${table} (${columns})`)) === null)
    throw new Error(`Cannot make the table ${table}: ${leader} does not answer`);
  await until({ what: "reads and writes through both HAProxy", seconds: 180, evidence }, async () => {
    const now = await truth.wholeUnder();
    return now !== undefined && (await truth.isServed(now));
  });
  return table;
}

/** Injects every fault at its time, and returns when the last one is healed. */
async function injectAll(
  { cluster, plan, log }: RunOptions,
  { truth, recorder }: { readonly truth: Truth; readonly recorder: HistoryRecorder },
): Promise<void> {
  const scene = {
    cluster,
    leader: () => truth.leader(),
    switchOver: truth.switchOver.bind(truth),
    taken: new Set<string>(),
  };
  const startMs = nowMs();
  const play = async (fault: PlannedFault): Promise<void> => {
    await sleep(fault.atMs);
    const injected = await inject(fault, scene);
    const { kind } = fault;
    const { target } = injected;
    const fromMs = nowMs();
    if ("notRun" in injected) {
      log(`  ${kind} ${target}: not run, ${injected.notRun}`);
      recorder.add({ type: "fault", kind, target, fromMs, toMs: fromMs, notRun: injected.notRun });
      return;
    }
    log(`  ${((fromMs - startMs) / 1_000).toFixed(1)} s: ${kind} ${target} for ${(fault.forMs / 1_000).toFixed(0)} s`);
    await sleep(fault.forMs);
    await injected.heal();
    recorder.add({ type: "fault", kind, target, fromMs, toMs: nowMs(), notRun: null });
  };
  await Promise.all(plan.faults.map(play));
}

/** Waits until the cluster is whole, rolecall calls all of it fit, and HAProxy uses it. Records when. */
async function recover({ cluster }: RunOptions, truth: Truth): Promise<RecoveryEvent> {
  const healedAtMs = nowMs();
  let wholeAtMs: number | null = null;
  let fitAtMs: number | null = null;
  let servedAtMs: number | null = null;
  const isOver = (): boolean => {
    if (servedAtMs !== null && fitAtMs !== null) return true;
    const now = nowMs();
    return wholeAtMs === null ? now > healedAtMs + wholeSeconds * 1_000 : now > wholeAtMs + bounds.servedMs + 20_000;
  };
  while (!isOver()) {
    const leader = await truth.wholeUnder();
    if (leader === undefined) wholeAtMs = fitAtMs = servedAtMs = null;
    else {
      wholeAtMs ??= nowMs();
      if (fitAtMs === null && (await truth.isFit(leader))) fitAtMs = nowMs();
      if (servedAtMs === null && (await truth.isServed(leader))) servedAtMs = nowMs();
    }
    await sleep(250);
  }
  for (const node of cluster.nodes.values())
    if (!signal(node.pid, 0)) throw new Error(`Cannot go on: Patroni of ${node.name} ended by itself\n${node.tail}`);
  const ended = cluster.edges.filter(({ exitCode }) => exitCode !== null).map(({ name }) => name);
  return { type: "recovery", healedAtMs, wholeAtMs, fitAtMs, servedAtMs, ended, survivors: null };
}

/** The unique values that a node has. */
async function survivorsOf(
  truth: Truth,
  { leader, table }: { readonly leader: Parameters<Truth["sql"]>[0]; readonly table: string },
): Promise<RecoveryEvent["survivors"]> {
  const statement = `select writer, json_agg(seq) as seqs from ${table} group by writer`;
  const rows = await truth.sql<{ readonly writer: string; readonly seqs: readonly number[] }>(leader, statement);
  return rows === null ? null : Object.fromEntries(rows.map(({ writer, seqs }) => [writer, seqs]));
}
