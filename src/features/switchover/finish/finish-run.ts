import type { SetTimer } from "../../../core/cluster/timer.ts";
import type { PausingRun } from "../hands/pause-console.ts";
import { LoginRetry } from "../hands/login-retry.ts";
import { PendingChange } from "../hands/pending-change.ts";
import { PauseHand } from "../hands/pause-hand.ts";
import type { TargetResumer } from "../hands/resume-target.ts";
import type { RouteLeader } from "../hands/route-leader.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";
import type { SeenRestart } from "./restarted-node.ts";
import type { AdoptedRun } from "../machine/advance.ts";
import type { SwitchoverPlan } from "../machine/plan.ts";
import type { Outcome } from "../machine/state.ts";
import { type RecordedStep, type Safeguard, SwitchoverRun } from "../run/switchover-run.ts";

/** A target of a run that another process has begun. */
export interface FinishedTarget extends Pick<IntendedPause, "pooler" | "database" | "console"> {
  /** Its console for RESUME, where it is open already. */
  readonly resumer: TargetResumer | null;
}

/** What finishing the run of another process depends on. */
export interface FinishContext {
  readonly plan: SwitchoverPlan;
  readonly by: PausingRun;
  /** Those of the plan, in the same order. */
  readonly targets: readonly FinishedTarget[];
  /** `server_login_retry` of the poolers, by their names. */
  readonly retries: ReadonlyMap<string, LoginRetry>;
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** The primary that clients may be led to now; `null` if there is none. */
  readonly primary: () => string | null;
  /** Whether a change of the leader is pending in the DCS; `null` if it is not known. */
  readonly isChangePending: () => Promise<boolean | null>;
  /** How far the restart of a database is; absent: the run restarts none. */
  readonly restart?: (() => SeenRestart) | undefined;
  readonly leader: RouteLeader;
  /** Who hears that this process lives. */
  readonly safeguards: readonly Safeguard[];
  /** Says durably that nothing is paused at a target. @throws Error if it cannot be said */
  readonly close: (target: number) => Promise<void>;
  /** Takes over a target that may be paused when the run ends. */
  readonly leave: (target: number) => void;
  readonly onStep: (step: RecordedStep) => void;
  readonly onEnd: (outcome: Outcome) => void;
  readonly onError: (error: unknown) => void;
}

/** Times in ms: of each command of a console, and between two looks at one that is read again. */
const commandMs = 1_000;
const pollMs = 20;

/**
 * Finishes the run of another process that has died or stands still: by the same machine, from the state that it was in.
 * Nothing is requested any more, and nothing is paused but what refuses its clients after a loss. Where the switchover may have been requested, each target is led to the new
 * primary and then resumed; at the deadline, all are.
 */
export function finishRun(context: FinishContext, adopted: AdoptedRun): SwitchoverRun {
  const { plan, by, targets, retries, now, primary, isChangePending, restart, leader, safeguards, close, leave } =
    context;
  const pending = new PendingChange({ now, read: isChangePending });
  const run = new SwitchoverRun(context, (begun) => {
    const hands = targets.map(
      ({ pooler, database, console, resumer }, target) =>
        new PauseHand({
          target: { by, database, console },
          retry: retries.get(pooler) ?? new LoginRetry({ console, before: null, limitMs: commandMs }),
          ...(resumer === null ? {} : { resumer }),
          limits: { commandMs, pauseMs: commandMs, pollMs },
          mayPause: () => begun.mayPause(),
          areEarlierOver: () => false,
          lead: () => begun.leadLast(target),
          now,
          onEvent: (event) => begun.happened({ ...event, target }),
        }),
    );
    for (const [target, hand] of hands.entries()) {
      const isWatched = plan.start === "loss" && adopted.watched.includes(target);
      hand.adopt(!adopted.open.includes(target) ? "over" : isWatched ? "watched" : "held");
    }
    return {
      preflight: () => Promise.reject(new Error("a run that is finished for another process is not checked")),
      claim: {
        take: () => Promise.resolve("it is the run of another process"),
        // After a loss the right of the process that has begun the run goes on, for what it has not paused yet.
        isHeld: () => plan.start === "loss",
        release: () => {},
      },
      safeguards,
      targets: hands,
      request: () => Promise.reject(new Error("a run that is finished for another process requests nothing")),
      primary: () => restart?.() ?? { node: primary(), pending: pending.look() },
      lead: (route, node) => leader.lead(plan.routes[route], node),
      close,
      leave,
    };
  });
  run.adopt(adopted);
  return run;
}
