import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { finishRun } from "../finish/finish-run.ts";
import type { SeenRestart } from "../finish/restarted-node.ts";
import { inTime } from "../../../core/state/files/in-time.ts";
import type { RouteLeader } from "../hands/route-leader.ts";
import type { PausingRun } from "../hands/pause-console.ts";
import { type LoginRetry, loginRetries } from "../hands/login-retry.ts";
import { TargetResumer } from "../hands/resume-target.ts";
import { fileRoutesOf, pauseName } from "../machine/plan.ts";
import type { RecordedStep, Safeguard, SwitchoverRun } from "../run/switchover-run.ts";
import type { FromGuardian, GuardedRun, ToGuardian } from "./messages.ts";

/** What a guard finishes a run with. */
export interface GuardEvidence {
  /** The primary that clients may be led to now; `null` if there is none. */
  readonly primary: () => string | null;
  /** How far the restart of a database is; absent: the run restarts none. */
  readonly restart?: (() => SeenRestart) | undefined;
  /** Makes sure that what the run needs is up to date: the main process is gone. */
  readonly takeOver: () => void;
  /** Whether a change of the leader is pending in the DCS; `null` if it is not known. */
  readonly isChangePending: () => Promise<boolean | null>;
  readonly leader: RouteLeader;
  /** The peers of the main process, which must not take over while this process lives. */
  readonly peers: (mayBeRequested: boolean) => readonly Safeguard[];
  /** Whether somebody else has finished the run, or finishes it: asked after this process has stood still. */
  readonly isOver: () => Promise<boolean>;
  readonly stop: () => void;
}

/** What a guard depends on. */
export interface GuardContext {
  readonly setTimer: SetTimer;
  /** In ms of a clock that goes on while the process is stopped. */
  readonly now: () => number;
  readonly send: (message: FromGuardian) => void;
  /** Begins to ask the nodes. Does not wait for an answer. */
  readonly open: (guarded: GuardedRun) => GuardEvidence;
  readonly onStep: (step: RecordedStep) => void;
  readonly onError: (error: unknown) => void;
  /** Nothing is left to do. */
  readonly onEnd: () => void;
}

/** How long the main process may be silent, in ms. */
const silenceMs = 1_000;
/** How often the guard looks at the time, in ms. */
const tickMs = 100;
/** A tick that is late by more than this shows that the process did not run, in ms. */
const lateMs = 500;
/** How long messages may take to be read that came meanwhile, in ms. */
const readingMs = 500;
/** How often an unverified RESUME is repeated, in ms. */
const repeatMs = 250;
/** Of each step with a console, in ms. */
const commandMs = 1_000;
/** How long RESUME is repeated, in ms. A PgBouncer that is gone for so long is not paused when it runs again. */
const resumingMaxMs = 3_600_000;
/** Until the first console is open, in ms: a new process has to load what speaks to it. */
const openMs = 3_000;

/** What is being guarded. */
interface Guarded {
  readonly run: GuardedRun;
  readonly resumers: readonly TargetResumer[];
  /** `server_login_retry` of the poolers, by their names: read before anything was changed. */
  readonly retries: ReadonlyMap<string, LoginRetry>;
  readonly evidence: GuardEvidence;
  /** Positions of the targets that may be paused. */
  open: readonly number[];
  /** Those of them that were not paused yet, as far as is known. */
  watched: readonly number[];
  mayBeRequested: boolean;
  heardAtMs: number;
  deadlineAtMs: number;
  /** Whether this process has stood still since it heard of the main process. */
  hasStoodStill: boolean;
}

/**
 * How far a guard is.
 * - `new`: it guards nothing yet
 * - `opening`: its consoles are being opened
 * - `guarding`: the main process lives
 * - `asking`: it has stood still itself: whether the run is over already is being found out
 * - `finishing`: it has taken over
 * - `over`: nothing is left to do
 */
type Phase =
  | { readonly kind: "new" | "over" }
  | { readonly kind: "opening" | "guarding" | "asking"; readonly guarded: Guarded }
  | { readonly kind: "finishing"; readonly guarded: Guarded; readonly run: SwitchoverRun | null };

/**
 * Finishes the run of the main process, if that process ends, says nothing for a second, or misses the deadline. Its
 * consoles are open, and the nodes are asked, before anything is paused.
 */
export class Guard {
  readonly #context: GuardContext;
  #phase: Phase = { kind: "new" };
  #cancelTick: CancelTimer | null = null;
  #cancelMax: CancelTimer | null = null;
  #tickedAtMs = 0;

  constructor(context: GuardContext) {
    this.#context = context;
  }

  receive(message: ToGuardian): void {
    const phase = this.#phase;
    switch (message.kind) {
      case "guard":
        if (phase.kind === "new") void this.#begin(message, message.leftMs);
        return;
      case "end":
        return this.#end();
      case "beat":
      case "request":
        if (phase.kind === "opening" || phase.kind === "guarding") this.#hear(phase.guarded, message);
    }
  }

  /** The main process has ended. */
  mainEnded(): void {
    const phase = this.#phase;
    if (phase.kind === "new") return this.#end();
    if (phase.kind !== "opening" && phase.kind !== "guarding") return;
    this.#noteStandstill(phase.guarded);
    this.#takeOver(phase.guarded, "the main process ended");
  }

  async #begin(run: GuardedRun, leftMs: number): Promise<void> {
    const { intent } = run;
    const by = pausingRunOf(run);
    const resumers = intent.targets.map(
      ({ database, console }) => new TargetResumer({ by, database, console }, commandMs),
    );
    const nowMs = this.#context.now();
    const guarded: Guarded = {
      run,
      resumers,
      retries: loginRetries(intent.targets, () => undefined, commandMs),
      evidence: this.#context.open(run),
      open: [...intent.targets.keys()],
      watched: [...intent.targets.keys()],
      mayBeRequested: intent.finish.mayBeRequested,
      heardAtMs: nowMs,
      deadlineAtMs: nowMs + leftMs,
      hasStoodStill: false,
    };
    this.#phase = { kind: "opening", guarded };
    const problems = await Promise.all(
      resumers.map(async (resumer, at) => {
        const target = intent.targets[at] ?? { pooler: "", database: "" };
        try {
          await guarded.retries.get(target.pooler)?.read(await resumer.console(openMs));
          return [];
        } catch (error) {
          return [`${pauseName(target)}: ${errorMessage(error)}`];
        }
      }),
    );
    const [problem] = problems.flat();
    if (this.#phase.kind !== "opening") return;
    if (problem !== undefined) {
      this.#context.send({ kind: "problem", problem });
      return this.#end();
    }
    guarded.heardAtMs = this.#context.now();
    this.#phase = { kind: "guarding", guarded };
    this.#tickedAtMs = guarded.heardAtMs;
    this.#tickLater();
    this.#context.send({ kind: "ready" });
  }

  #hear(guarded: Guarded, message: Extract<ToGuardian, { readonly kind: "beat" | "request" }>): void {
    const nowMs = this.#context.now();
    guarded.heardAtMs = nowMs;
    guarded.hasStoodStill = false;
    guarded.deadlineAtMs = nowMs + message.leftMs;
    if (message.kind === "beat") {
      guarded.open = message.open;
      guarded.watched = message.watched;
      return;
    }
    guarded.mayBeRequested = true;
    this.#context.send({ kind: "told" });
  }

  #tickLater(): void {
    this.#cancelTick = this.#context.setTimer(() => this.#tick(), tickMs);
  }

  #tick(): void {
    const phase = this.#phase;
    if (phase.kind !== "guarding") return;
    const { guarded } = phase;
    const nowMs = this.#noteStandstill(guarded);
    if (nowMs >= guarded.deadlineAtMs) this.#takeOver(guarded, "the deadline");
    else if (nowMs - guarded.heardAtMs >= silenceMs)
      this.#takeOver(guarded, `no sign of life for ${silenceMs / 1_000} s`);
    else this.#tickLater();
  }

  /** Messages may have come while this process did not run: they are read before anything is concluded from silence. */
  #noteStandstill(guarded: Guarded): number {
    const nowMs = this.#context.now();
    if (nowMs - this.#tickedAtMs > tickMs + lateMs) {
      guarded.hasStoodStill = true;
      guarded.heardAtMs = Math.max(guarded.heardAtMs, nowMs - silenceMs + readingMs);
      guarded.deadlineAtMs = Math.max(guarded.deadlineAtMs, nowMs + readingMs);
    }
    this.#tickedAtMs = nowMs;
    return nowMs;
  }

  #takeOver(guarded: Guarded, why: string): void {
    this.#cancelTick?.();
    if (!guarded.hasStoodStill) return this.#finish(guarded, why);
    this.#phase = { kind: "asking", guarded };
    void this.#finishUnlessOver(guarded, why);
  }

  async #finishUnlessOver(guarded: Guarded, why: string): Promise<void> {
    let isOver = false;
    try {
      isOver = await guarded.evidence.isOver();
    } catch (error) {
      this.#context.onError(error);
    }
    if (this.#phase.kind !== "asking") return;
    if (isOver) this.#end();
    else this.#finish(guarded, why);
  }

  #finish(guarded: Guarded, why: string): void {
    const { send, setTimer, now, onError, onStep } = this.#context;
    const { run, evidence, resumers, retries, open, watched, mayBeRequested, deadlineAtMs } = guarded;
    const { intent, plan } = run;
    this.#phase = { kind: "finishing", guarded, run: null };
    send({ kind: "taken_over", why });
    this.#cancelMax = setTimer(() => this.#end(), resumingMaxMs);
    evidence.takeOver();
    const left: number[] = [];
    const finishing = finishRun(
      {
        plan,
        by: pausingRunOf(run),
        retries,
        targets: intent.targets.map(({ pooler, database, console }, at) => ({
          pooler,
          database,
          console,
          resumer: resumers[at] ?? null,
        })),
        now,
        setTimer,
        primary: evidence.primary,
        isChangePending: evidence.isChangePending,
        restart: evidence.restart,
        leader: evidence.leader,
        safeguards: evidence.peers(mayBeRequested),
        // The next start of the main process closes the intent: it may be changing the file right now.
        close: () => Promise.resolve(),
        leave: (target) => left.push(target),
        onStep,
        onEnd: () => {},
        onError,
      },
      { mayBeRequested, open, watched, deadlineMs: deadlineAtMs, why: `rolecall is gone (${why})` },
    );
    this.#phase = { kind: "finishing", guarded, run: finishing };
    void finishing.ended
      .then(() => this.#resumeLeft(guarded, left))
      .then(() => Promise.all([...retries.values()].map((retry) => retry.restored(true))))
      .then(() => this.#end());
  }

  /** Repeats RESUME where the run could not end it. */
  async #resumeLeft({ run, evidence }: Guarded, left: readonly number[]): Promise<void> {
    const { intent, plan } = run;
    const by = pausingRunOf(run);
    const lead = async (target: number): Promise<void> => {
      const node = evidence.primary();
      if (node === null) return;
      for (const at of fileRoutesOf(plan, target)) await inTime(evidence.leader.lead(plan.routes[at], node), commandMs);
    };
    await Promise.all(
      left.map(async (target) => {
        const found = intent.targets[target];
        if (found === undefined) return;
        const { database, console } = found;
        const resumer = new TargetResumer({ by, database, console }, commandMs);
        while (this.#phase.kind === "finishing" && (await resumer.resume(() => lead(target))).kind === "unsure")
          await new Promise<void>((resolve) => void this.#context.setTimer(resolve, repeatMs));
        resumer.close();
      }),
    );
  }

  #end(): void {
    const phase = this.#phase;
    if (phase.kind === "over") return;
    this.#phase = { kind: "over" };
    this.#cancelTick?.();
    this.#cancelMax?.();
    if ("guarded" in phase) {
      for (const resumer of phase.guarded.resumers) resumer.close();
      phase.guarded.evidence.stop();
    }
    this.#context.onEnd();
  }
}

/** The run that consoles act for. */
function pausingRunOf({ intent: { run, cluster, finish } }: GuardedRun): PausingRun {
  return { run, cluster, generation: finish.generation };
}
