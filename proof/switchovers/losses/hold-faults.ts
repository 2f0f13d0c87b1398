/** A hold after a loss that meets a fault of rolecall, or of the way to a console, at one of its steps. */
import { until } from "../../../test/fake/until.ts";
import { database } from "../lab.ts";
import type { Load } from "../load.ts";
import { worstWait } from "../waits.ts";
import { FaultLab, type FaultLabOptions } from "../faults/fault-lab.ts";
import type { FaultSpec } from "../faults/fault-list.ts";
import { inflict } from "../faults/inflict.ts";
import { PauseObserver } from "../faults/pause-observer.ts";
import { pausesOf, toleranceMs } from "../faults/pauses.ts";
import { StepLog } from "../faults/step-log.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { type LossKind, prepareLoss } from "./loss-kinds.ts";

/** The steps of a hold, after each of which the faults come. */
export const holdSteps = ["armed", "paused", "writable", "resuming"] as const;
export type HoldStep = (typeof holdSteps)[number];

/** The faults, and how long each lasts, in ms. */
export const holdFaults: readonly FaultSpec[] = [
  fault("rolecall killed", { kind: "kill_rolecall", guardian: false, cut: false }, 3_000),
  fault("rolecall and guardian killed", { kind: "kill_rolecall", guardian: true, cut: false }, 3_000),
  fault("rolecall stopped", { kind: "freeze_rolecall", guardian: false }, 5_000),
  fault("rolecall and guardian stopped", { kind: "freeze_rolecall", guardian: true }, 5_000),
  fault("guardian killed", { kind: "kill_guardian" }, 1_000),
  fault("a console cut off", { kind: "cut_pooler" }, 5_000),
];

export interface HoldFaultResult {
  readonly fault: string;
  readonly step: HoldStep;
  readonly loss: LossKind;
  /** The longest that one database was paused, in ms. */
  readonly pausedMs: number;
  readonly failed: number;
  readonly longestMs: number;
  /** What failed, as `until the fault`, `during it` or `after it`, and how often, with the error. */
  readonly errors: readonly string[];
  readonly broken: readonly string[];
}

/** `hold_on_loss` of these holds, in ms: longer than the loss of a node takes. */
const limitMs = 40_000;
const clients = 12;
/** How long after the end of a fault a hold may last whose process is gone or stood still: its next one has to start. */
const restartMs = 8_000;

function fault(name: string, inflicted: FaultSpec["inflicted"], lastsMs: number): FaultSpec {
  return { name, lab: "alone", inflicted, states: [], lastsMs };
}

function errorsOf(
  failures: Load["window"]["failures"],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly string[] {
  const counts = new Map<string, number>();
  for (const { error, startedMs, waitMs } of failures) {
    const atMs = startedMs + waitMs;
    const text = `${atMs < fromMs ? "until the fault" : atMs < untilMs ? "during it" : "after it"}: ${error}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => `${count} ${text}`);
}

/** Starts a lab whose poolers are held. */
export function holdFaultLab(options: Omit<FaultLabOptions, "kind" | "pooler">): Promise<FaultLab> {
  return FaultLab.start({ ...options, kind: "alone", pooler: { hold_on_loss: `${limitMs / 1_000}s` } });
}

/** Plays one loss with one fault. */
export async function playHoldFault(
  faultLab: FaultLab,
  { spec, step, loss: kind }: { readonly spec: FaultSpec; readonly step: HoldStep; readonly loss: LossKind },
): Promise<HoldFaultResult> {
  const { lab } = faultLab;
  const { leader, candidate } = await faultLab.settled(120);
  const load = lab.load(clients);
  const observers = lab.poolers.map((pooler) => new PauseObserver(pooler, database));
  const log = new StepLog(faultLab.logFile);
  const broken: string[] = [];
  try {
    await until("transactions", () => load.window.acknowledged.length >= 1_500);
    await sleep(3_000);
    const loss = prepareLoss(kind, leader);
    const lostMs = loss.strike();
    if (!(await log.sees(step, () => performance.now() > lostMs + 35_000)))
      broken.push(`not completed: the hold must reach ${step}, got ${log.steps.join(", ")}`);
    const { applied, undo } = await inflict(faultLab, spec, candidate);
    await sleep(Math.max(0, applied.atMs + spec.lastsMs - performance.now()));
    await undo();
    const undoneMs = performance.now();
    await until({ what: "clients that write again", seconds: 90, evidence: () => lab.rolecall.tail }, () => {
      const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > undoneMs);
      const areBack = new Set(later.map(({ client }) => client)).size === clients;
      return areBack && observers.every(({ paused }) => paused === false) ? true : undefined;
    }).catch((error: unknown) => void broken.push(String(error)));
    loss.heal();
    const pauses = observers.flatMap(({ seen }) => pausesOf(seen));
    const lengths = pauses.map(({ fromMs, untilMs }) => (untilMs ?? Infinity) - fromMs);
    const pausedMs = Math.max(0, ...lengths);
    const latestMs = Math.max(limitMs + toleranceMs, undoneMs - lostMs + restartMs);
    if (pausedMs > latestMs) broken.push(`paused for ${Math.round(pausedMs)} ms, ${latestMs} ms at most`);
    return {
      fault: spec.name,
      step,
      loss: kind,
      pausedMs,
      failed: load.failed,
      longestMs: worstWait(load.window).waitMs,
      errors: errorsOf(load.window.failures, { fromMs: applied.atMs, untilMs: undoneMs }),
      broken,
    };
  } finally {
    await Promise.all([load.stop(), ...observers.map((observer) => observer.stop())]);
    log.close();
  }
}
