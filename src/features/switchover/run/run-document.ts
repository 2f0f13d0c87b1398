import type { EndedSwitchover } from "./ended-switchover.ts";
import type { SwitchoverStart } from "../machine/plan.ts";
import { isLed, type Outcome } from "../machine/state.ts";
import type { PreflightLine } from "../preflight/preflight-line.ts";
import { outcomeText } from "./outcome-text.ts";
import type { RecordedStep, SwitchoverRun } from "./switchover-run.ts";

/** What is known of a run beside its machine. */
export interface RunFacts {
  /** Who asked for it, as authentication found. */
  readonly by: string | null;
  /** In ms since the epoch. */
  readonly startedWallMs: number;
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
}

/** The answer to `GET /clusters/{c}/switchover/run`. */
export interface RunDocument {
  readonly run: string;
  readonly cluster: string;
  readonly by: string | null;
  /** `request`, `announced`, `loss`; `restart`: of the database of `leader`. */
  readonly start: SwitchoverStart;
  readonly leader: string;
  readonly candidate: string | null;
  readonly dry_run: boolean;
  readonly started_at: string;
  readonly elapsed_ms: number;
  readonly state: string;
  /** Until everything is resumed, whatever happens; `null` while nothing may be paused. */
  readonly deadline_in_ms: number | null;
  readonly preflight: readonly PreflightLine[];
  readonly forecast_ms: number | null;
  readonly steps: readonly { readonly step: string; readonly text: string | null; readonly after_ms: number }[];
  readonly targets: readonly {
    readonly pooler: string;
    readonly database: string;
    readonly phase: string | null;
    readonly held_ms: number | null;
  }[];
  readonly outcome: Outcome | null;
  /** The outcome as a sentence. */
  readonly text: string | null;
}

/** Describes a run, whether it is over or not. */
export function runDocument(run: SwitchoverRun, { by, startedWallMs, nowMs }: RunFacts): RunDocument {
  const { plan, state, steps, preflight, heldMs } = run;
  const holding = "targets" in state ? state : null;
  const outcome = state.kind === "ended" ? state.outcome : null;
  return {
    run: plan.run,
    cluster: plan.cluster,
    by,
    start: plan.start,
    leader: plan.leader,
    candidate: plan.candidate,
    dry_run: plan.isDryRun,
    started_at: new Date(startedWallMs).toISOString(),
    elapsed_ms: Math.round(run.elapsedMs),
    state: state.kind,
    deadline_in_ms: holding === null ? null : Math.max(0, Math.round(holding.deadlineMs - nowMs)),
    preflight: preflight?.lines ?? [],
    forecast_ms: preflight?.forecastMs ?? null,
    steps: steps.map(writtenStep),
    targets: plan.targets.map((target, at) => ({
      pooler: target.pooler,
      database: target.database,
      phase: holding?.targets[at] ?? null,
      held_ms: rounded(heldMs[at] ?? null),
    })),
    outcome,
    text: outcome === null ? null : outcomeText(outcome, plan),
  };
}

/** What an event says of a run that is over. */
export function endedSwitchover(
  run: SwitchoverRun,
  outcome: Outcome,
  { by, clients }: { readonly by: string | null; readonly clients: number | null },
): EndedSwitchover {
  const { plan, steps, preflight } = run;
  const held = run.heldMs.filter((ms) => ms !== null);
  const settled = outcome.kind === "unfinished" ? outcome.of : outcome;
  return {
    cluster: plan.cluster,
    run: plan.run,
    start: plan.start,
    outcome: outcome.kind,
    text: outcomeText(outcome, plan),
    leader: plan.leader,
    node: isLed(settled) ? settled.node : null,
    heldMs: held.length === 0 ? null : Math.round(Math.max(...held)),
    forecastMs: preflight?.forecastMs ?? null,
    steps: stepTimes(steps),
    clients,
    by,
  };
}

/** How long each step took since the one before it, in ms. */
function stepTimes(steps: readonly RecordedStep[]): Readonly<Record<string, number>> {
  const timed = steps.filter(({ step }) => step !== "note");
  return Object.fromEntries(
    timed.map(({ step, afterMs }, at) => [step, Math.round(afterMs - (timed[at - 1]?.afterMs ?? 0))]),
  );
}

function writtenStep({ step, text, afterMs }: RecordedStep): RunDocument["steps"][number] {
  return { step, text, after_ms: Math.round(afterMs) };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
