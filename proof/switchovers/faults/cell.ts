/** One switchover with one fault at one state, and what became of it. */
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../../src/core/cluster/values/error-message.ts";
import { until } from "../../../test/fake/until.ts";
import type { Pgbouncer } from "../../../test/real/lab/pgbouncer.ts";
import { psql } from "../../../test/real/lab/psql.ts";
import { database } from "../lab.ts";
import { createTable, type Load } from "../load.ts";
import { currentRun, postSwitchover, type RunDocument, runSwitchover } from "../run-document.ts";
import { worstWait, writesOfOldPrimaries } from "../waits.ts";
import { type CommandEnd, startCommand } from "./command.ts";
import type { FaultLab } from "./fault-lab.ts";
import { deadlineMs, type FaultSpec, type Inflicted, type MetState } from "./fault-list.ts";
import { type Applied, inflict } from "./inflict.ts";
import { PauseObserver } from "./pause-observer.ts";
import { brokenPauses, type Pause, pausesOf } from "./pauses.ts";
import { StepLog } from "./step-log.ts";

export interface CellResult {
  readonly fault: string;
  readonly state: MetState;
  /** The last step before the fault; a fault may come later than intended. */
  readonly met: string;
  /** That of the run, or what a killed rolecall left. */
  readonly outcome: string;
  /** What the command said at its end, and its exit code; `null`: no command was used, or it hung. */
  readonly text: string;
  readonly exitCode: number | null;
  /** The longest that one database was paused, and those that did not answer meanwhile; 0: none was. */
  readonly pausedMs: number;
  readonly resumedBy: readonly string[];
  readonly acknowledged: number;
  readonly failed: number;
  readonly worstWaitMs: number;
  readonly lost: number;
  /** From the end of the fault until a switchover was possible. */
  readonly recoveredMs: number | null;
  /** The greatest `rolecall_paused_databases` while the pooler could not be reached; `null`: not asked. */
  readonly alertSeen: number | null;
  readonly broken: readonly string[];
}

/** The last step that was written before each state is met. */
const stepBefore = {
  arming: "checked",
  pausing: "armed",
  switching: "requested",
  "switching, late": "requested",
  routing: "writable",
  resuming: "routed",
} as const;
/** How long after the request Patroni has stopped the old primary, in ms, but not promoted the new one. */
const lateMs = 900;
/** How long PAUSE of the second pooler is held for a fault that is to come before all is paused. */
const holdSeconds = 0.7;
/** What must be over by then, in ms: a run that follows a primary after its end lasts for 60 s. */
const endSeconds = 100;
const settleSeconds = 90;

export async function playCell(faultLab: FaultLab, spec: FaultSpec, state: MetState): Promise<CellResult> {
  const { lab } = faultLab;
  const { leader, candidate } = await faultLab.settled(settleSeconds);
  if ((await psql(leader.databasePort, createTable)) === undefined)
    throw new Error(`Cannot create the table: ${leader.name} must take writes, got no answer`);
  const load = lab.load(20, 20);
  const observers = lab.poolers.map((pooler) => new PauseObserver(pooler, database));
  const logs = { own: new StepLog(faultLab.logFile), peer: faultLab.peerLog() };
  const broken: string[] = [];
  try {
    await until("transactions", () => load.window.acknowledged.length >= 200);
    const faulty = await switchOverWithFault(faultLab, { spec, state, candidate }, { log: logs.own, observers });
    const alertSeen = await endFault(faultLab, { spec, observers }, faulty);
    const run = await endOfRun(faultLab, spec, observers);
    const endedMs = performance.now();
    const said = await faulty.command;
    broken.push(...(await untrueIn(faultLab, run, { said, candidate: candidate.name, spec })));
    const pauses = observers.map(({ seen }) => pausesOf(seen));
    broken.push(
      ...faulty.applied.problems,
      ...brokenBounds({ spec, state }, faulty.applied, pauses),
      ...brokenOutcome(spec, kindOf(run)),
    );
    if (alertSeen === 0) broken.push("rolecall_paused_databases was 0 while a pooler could not be reached");
    const resumedBy = resumersIn(logs.own.text, logs.peer?.text ?? "");
    const recoveredMs = await recover(faultLab, load, broken, endedMs);
    const { acknowledged } = load.window;
    const [failed, worstWaitMs] = [load.failed, worstWait(load.window).waitMs];
    if (spec.isClean === true && failed > 0)
      broken.push(`${failed} transactions failed, although somebody could finish it`);
    const stale = writesOfOldPrimaries(acknowledged).length;
    if (stale > 0) broken.push(`${stale} writes were taken by an old primary`);
    const lost = await lostRows(faultLab, load, broken);
    return {
      fault: spec.name,
      state,
      met: faulty.met,
      outcome: kindOf(run),
      text: said?.text ?? "",
      exitCode: said?.exitCode ?? null,
      pausedMs: longest(pauses.flat()),
      resumedBy,
      acknowledged: acknowledged.length,
      failed,
      worstWaitMs,
      lost,
      recoveredMs,
      alertSeen,
      broken,
    };
  } finally {
    await Promise.all([load.stop(), ...observers.map((observer) => observer.stop())]);
    for (const log of [logs.own, logs.peer]) log?.close();
  }
}

interface Faulty {
  readonly applied: Applied;
  readonly undo: () => Promise<void>;
  readonly met: string;
  /** The end of the command that asked for the switchover; `null`: another client did. */
  readonly command: Promise<CommandEnd> | null;
}

/** Asks for a switchover, and inflicts the fault as soon as its state is met. */
async function switchOverWithFault(
  faultLab: FaultLab,
  { spec, state, candidate }: { spec: FaultSpec; state: MetState; candidate: Parameters<typeof inflict>[2] },
  { log, observers }: { log: StepLog; observers: readonly PauseObserver[] },
): Promise<Faulty> {
  const { lab } = faultLab;
  const first = state === "before" ? await inflict(faultLab, spec, candidate) : null;
  const request = { candidate: candidate.name, unguarded: spec.lab === "alone" };
  // Two edges are to begin at the same time: a command needs a while to start.
  const command = spec.inflicted.kind === "second_edge" ? null : startCommand(lab, request);
  if (command === null) {
    const { status, body } = await postSwitchover(lab.api, { ...request, deadline: `${deadlineMs}ms` });
    if (status !== 202) throw new Error(`Cannot start a switchover: rolecall must answer 202, got ${status} ${body}`);
  } else await begun(faultLab, command);
  if (first !== null) return { ...first, met: "before", command };
  if (state !== "checking") {
    const step = stepBefore[state as keyof typeof stepBefore];
    const untilMs = performance.now() + 30_000;
    const isLate = (): boolean => performance.now() > untilMs;
    // All else about PAUSE takes milliseconds.
    if (state === "pausing" && (await log.sees("checked", isLate))) holdPause(lab.poolers[1]);
    if (!(await log.sees(step, isLate)))
      throw new Error(`Cannot inflict the fault: the switchover must reach ${step}, got ${log.steps.join(", ")}`);
    if (state === "switching, late") await sleep(lateMs);
    if (state === "pausing") await until("PAUSE", () => observers[0]?.paused === true);
  }
  const before = log.steps.at(-1) ?? "begun";
  const { applied, undo } = await inflict(faultLab, spec, candidate);
  // A rolecall that is gone writes no more: its last step is that of the fault.
  const isGone = spec.inflicted.kind === "kill_rolecall" || spec.inflicted.kind === "freeze_rolecall";
  return { applied, undo, met: isGone ? (log.steps.at(-1) ?? "begun") : before, command };
}

/** Waits until the command has begun a run. @throws Error with what it says, if it ends without one */
async function begun({ lab }: FaultLab, command: Promise<CommandEnd>): Promise<void> {
  let ended: CommandEnd | null = null;
  void command.then((end) => (ended = end));
  const before = (await currentRun(lab.api))?.run ?? null;
  await until({ what: "the begin of a switchover", seconds: 30, evidence: () => lab.rolecall.tail }, async () => {
    const run = (await currentRun(lab.api))?.run ?? null;
    if (run !== before) return true;
    if (ended !== null) throw new Error(`Cannot start a switchover: the command says ${JSON.stringify(ended)}`);
    return false;
  });
}

/** A statement through a pooler that PAUSE has to wait for. */
function holdPause(pooler: Pgbouncer | undefined): void {
  if (pooler !== undefined)
    void psql(pooler.port, `SELECT pg_sleep(${holdSeconds})`, 60_000, { user: "app", database });
}

/** Waits as long as the fault lasts, and ends it. @returns what an alert would have seen beyond the deadline */
async function endFault(
  faultLab: FaultLab,
  { spec: { inflicted, lastsMs }, observers }: { spec: FaultSpec; observers: readonly PauseObserver[] },
  { applied, undo }: Faulty,
): Promise<number | null> {
  const leftMs = (): number => applied.atMs + lastsMs - performance.now();
  const isCut = inflicted.kind === "cut_pooler" && lastsMs > deadlineMs;
  let seen: number | null = null;
  await sleep(Math.max(0, leftMs() - 1_000));
  if (isCut && observers[0]?.paused === true) {
    const line = /^rolecall_paused_databases\{[^}]*\} (\d+)/m.exec(await faultLab.lab.rolecall.metrics());
    seen = Number(line?.[1] ?? 0);
  }
  await sleep(Math.max(0, leftMs()));
  await undo();
  return seen;
}

/** Waits until nothing is paused, and until rolecall has nothing left to do. @returns the outcome */
async function endOfRun(
  { lab }: FaultLab,
  { inflicted }: FaultSpec,
  observers: readonly PauseObserver[],
): Promise<RunDocument["outcome"]> {
  let run: RunDocument | null = null;
  const evidence = (): string => `${JSON.stringify(run)}\n${lab.rolecall.tail}`;
  await until({ what: "the end of the switchover", seconds: endSeconds, evidence }, async () => {
    run = await currentRun(lab.api);
    const other = inflicted.kind === "second_edge" ? await currentRun(lab.peerApi) : null;
    const isOver = [run, other].every((one) => one === null || one.state === "ended");
    return isOver && observers.every(({ paused }) => paused === false);
  });
  return ((run ?? { outcome: null }) as Pick<RunDocument, "outcome">).outcome;
}

function kindOf(outcome: RunDocument["outcome"]): string {
  return outcome === null ? "none: a new process" : outcome.kind;
}

/** After these the new primary takes nobody for a while: it is gone itself, or Patroni demotes it without its DCS. */
const losesPrimary = new Set<Inflicted["kind"]>(["kill_candidate", "freeze_candidate", "kill_etcd", "freeze_etcd"]);

/** What was said and is not so: looks itself where each pooler leads. */
async function untrueIn(
  { lab }: FaultLab,
  outcome: RunDocument["outcome"],
  {
    said,
    candidate,
    spec: { inflicted },
  }: { readonly said: CommandEnd | null; readonly candidate: string; readonly spec: FaultSpec },
): Promise<readonly string[]> {
  const untrue: string[] = [];
  const isSwitched = outcome?.kind === "switched";
  if (said !== null && said.exitCode === null) untrue.push(`the command must end, got ${said.text}`);
  const isGood = isSwitched && outcome.node === candidate;
  if (said?.exitCode === 0 && outcome !== null && !isGood)
    untrue.push(`the exit code must not be 0 after ${JSON.stringify(outcome)}: ${said.text}`);
  if (said !== null && said.exitCode !== 0 && said.text === "") untrue.push("the command must say how it came out");
  if (!isSwitched || losesPrimary.has(inflicted.kind)) return untrue;
  for (const [at, { port }] of lab.poolers.entries()) {
    const answer = await psql(port, "SELECT inet_server_port()", 10_000, { user: "app", database });
    const node = lab.cluster.nodes.find(({ databasePort }) => String(databasePort) === answer);
    if (node?.name !== outcome.node)
      untrue.push(
        `the outcome says that clients go on at ${outcome.node}, got ${node?.name ?? answer} by pgb${at + 1}`,
      );
  }
  return untrue;
}

/** Waits until clients go on through every pooler, and the next switchover works. @returns how long until it could begin */
async function recover(faultLab: FaultLab, load: Load, broken: string[], sinceMs: number): Promise<number | null> {
  const { lab } = faultLab;
  try {
    const before = load.counts;
    await until({ what: "transactions of every client after the fault", seconds: 60 }, () =>
      load.counts.every((count, at) => count >= (before[at] ?? 0) + 3),
    );
    await faultLab.settled(settleSeconds);
    const recoveredMs = performance.now() - sinceMs;
    await nextSwitchover(faultLab);
    const after = load.counts;
    await until({ what: "transactions of every client after the next switchover", seconds: 60 }, () =>
      load.counts.every((count, at) => count >= (after[at] ?? 0) + 3),
    );
    return recoveredMs;
  } catch (error) {
    broken.push(`not recovered: ${errorMessage(error).slice(0, 500)}\n${lab.rolecall.tail}`);
    return null;
  }
}

/** Patroni may choose another synchronous standby at any time: then the candidate is refused, and another one is named. */
async function nextSwitchover(faultLab: FaultLab): Promise<void> {
  const { lab, kind } = faultLab;
  let refused = "";
  await until({ what: "the next switchover", seconds: 60, evidence: () => refused }, async () => {
    const { candidate } = await faultLab.settled(settleSeconds);
    const request = { candidate: candidate.name, unguarded: kind === "alone" };
    const { outcome } = await runSwitchover(lab.api, request);
    if (outcome?.kind === "switched" && outcome.node === candidate.name) return true;
    refused = JSON.stringify(outcome);
    if (outcome?.kind === "refused" && refused.includes("synchronous standby")) return false;
    throw new Error(`the next switchover must lead to ${candidate.name}, got ${refused}`);
  });
}

async function lostRows({ lab }: FaultLab, load: Load, broken: string[]): Promise<number> {
  await load.stop();
  const { lost, doubled, foreign } = await load.audit((await lab.cluster.leader()).databasePort);
  broken.push(...lost.map((row) => `lost: ${row}`), ...doubled.map((row) => `twice: ${row}`));
  broken.push(...foreign.map((row) => `never sent: ${row}`));
  return lost.length;
}

function brokenBounds(
  { spec, state }: { readonly spec: FaultSpec; readonly state: MetState },
  applied: Applied,
  pauses: readonly (readonly Pause[])[],
): readonly string[] {
  const { gone = null, pausedMaxMs = deadlineMs, othersMaxMs = pausedMaxMs, inflicted } = spec;
  const isRequested = state !== "arming" && state !== "pausing";
  return pauses.flatMap((own, at) =>
    brokenPauses(`pgb${at + 1}`, own, {
      deadlineMs: at === 0 ? pausedMaxMs : othersMaxMs,
      goneAtMs: applied.atMs,
      startedAtMs: applied.startedAtMs,
      gone: isRequested ? null : gone,
      reachableAtMs: at === 0 && inflicted.kind !== "transaction" ? applied.reachableAtMs : null,
    }),
  );
}

function brokenOutcome({ outcomes }: FaultSpec, outcome: string): readonly string[] {
  return outcomes === undefined || outcomes.includes(outcome)
    ? []
    : [`the outcome must be ${outcomes.join(" or ")}, got ${outcome}`];
}

/** Who says in its log that it has resumed something. */
function resumersIn(own: string, peer: string): readonly string[] {
  return [
    ...(own.includes('"step":"resumed"') ? ["rolecall"] : []),
    ...(own.includes("the guardian finishes") ? ["guardian"] : []),
    ...(own.includes("finishing the switchover of an earlier process") ? ["the next start"] : []),
    ...(peer.includes("pauses_taken_over") ? ["peer"] : []),
  ];
}

function longest(pauses: readonly Pause[]): number {
  return Math.max(0, ...pauses.map(({ fromMs, untilMs }) => (untilMs ?? Infinity) - fromMs));
}
