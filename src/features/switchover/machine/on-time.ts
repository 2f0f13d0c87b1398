import {
  effectsOfResuming,
  end,
  resumeAll,
  stay,
  pauseTargetName,
  type StateOf,
  type SwitchoverTransition,
} from "./transition.ts";
import { onTimeOfLook } from "./after-loss.ts";
import { withoutRequest } from "./after-request.ts";
import { isOptional, holdAll } from "./before-request.ts";
import { actOf, type SwitchoverPlan } from "./plan.ts";
import { finish, resumingOnTime } from "./resuming.ts";
import type { SettledOutcome, SwitchoverState } from "./state.ts";
import { ledOutcome } from "./targets.ts";

/** What follows from the time alone. @param nowMs of rolecall's clock */
export function onTime(plan: SwitchoverPlan, state: SwitchoverState, nowMs: number): SwitchoverTransition {
  switch (state.kind) {
    case "checking":
      return nowMs < state.untilMs
        ? stay(state)
        : end({ kind: "refused", reason: lateText("checks", plan.limits.checkMs) });
    case "claiming":
      return nowMs < state.untilMs
        ? stay(state)
        : end({ kind: "refused", reason: lateText("the claim", plan.limits.claimMs) });
    case "arming": {
      if (nowMs < state.untilMs) return stay(state);
      const part = state.waitsFor.find((missing) => !isOptional(plan, missing));
      if (part === undefined) return holdAll(plan, nowMs);
      return end({ kind: "refused", reason: lateText(part, plan.limits.armMs) }, { kind: "disarm" });
    }
    case "pausing":
    case "telling": {
      const reason = reasonToAbort(plan, state, nowMs);
      return reason === null ? stay(state) : resumeAll(plan, state, { outcome: { kind: "aborted", reason }, nowMs });
    }
    case "switching": {
      const hasStoodStill = nowMs - state.ranAtMs > plan.limits.silenceMs;
      const present = hasStoodStill ? withoutRequest(state) : state;
      const outcome = switchingOutcome(plan, present, nowMs);
      if (outcome !== null) return resumeAll(plan, present, { outcome, nowMs });
      const ofLook = onTimeOfLook(plan, present, nowMs);
      if (ofLook !== null) return ofLook;
      if (nowMs < present.repeatAtMs) return stay(present);
      return stay({ ...present, repeatAtMs: nowMs + plan.limits.resumeMs }, ...effectsOfResuming(present.targets));
    }
    case "routing": {
      const outcome = ledOutcome(plan, state.node);
      if (nowMs >= state.deadlineMs) return resumeAll(plan, state, { outcome, nowMs });
      if (nowMs < state.repeatAtMs) return stay(state);
      const repeatAtMs = nowMs + plan.limits.resumeMs;
      return stay({ ...state, repeatAtMs }, ...effectsOfResuming(state.targets));
    }
    case "resuming":
      return resumingOnTime(plan, state, nowMs);
    case "following":
      return nowMs < state.untilMs ? stay(state) : finish(plan, { ...state, routes: [] });
    case "ended":
      return stay(state);
  }
}

function lateText(part: string, limitMs: number): string {
  return `${part}: not done within ${limitMs / 1_000} s`;
}

/**
 * Why the switchover must not be requested any more; `null` if it may be. A peer that has not been heard may finish the
 * run, and the guardian does while this process stands still.
 */
function reasonToAbort(plan: SwitchoverPlan, state: StateOf<"pausing" | "telling">, nowMs: number): string | null {
  const { silenceMs, pauseMs, tellMs } = plan.limits;
  if (nowMs - state.ranAtMs > silenceMs)
    return `rolecall stood still for ${Math.round((nowMs - state.ranAtMs) / 100) / 10} s`;
  const silent = plan.peers.find(
    (name, peer) => !isOptional(plan, name) && nowMs - (state.heardMs[peer] ?? -Infinity) > silenceMs,
  );
  if (silent !== undefined) return `the peer ${silent} has not answered for ${silenceMs / 1_000} s`;
  if (nowMs < state.untilMs && nowMs < state.deadlineMs) return null;
  if (state.kind === "telling") return lateText(state.waitsFor[0] ?? "safeguards", tellMs);
  const unanswered = state.targets.indexOf("asked");
  const late = unanswered === -1 ? state.targets.findIndex((phase) => phase !== "confirmed") : unanswered;
  return `PAUSE of ${pauseTargetName(plan, late)} took longer than ${pauseMs / 1_000} s (pause_limit)`;
}

/** How it came out, if the wait for a primary is over; `null` while it is not. */
function switchingOutcome(
  plan: SwitchoverPlan,
  { request, primary, quietSinceMs, deadlineMs, targets }: StateOf<"switching">,
  nowMs: number,
): SettledOutcome | null {
  const { leader, limits } = plan;
  const isQuiet = quietSinceMs !== null && nowMs - quietSinceMs >= limits.quietMs;
  if (request === "announced" && isQuiet)
    return { kind: "stayed", reason: `${leader} still leads ${limits.quietMs / 1_000} s after it was to stop` };
  if (request === "unknown" && isQuiet && actOf(plan) === "restart")
    return { kind: "unknown", reason: `the request failed, and ${leader} runs as before` };
  if (request === "unknown" && isQuiet)
    return { kind: "unknown", reason: `the request failed; ${leader} still leads, and nothing is pending in the DCS` };
  if (nowMs < deadlineMs) return null;
  if (request === "lost" && targets.every((phase) => phase === "unheld"))
    return { kind: "refused", reason: "no pooler refused clients" };
  if (primary === null || request === "lost") return { kind: "no_primary" };
  // Who goes on with the run of another process knows when it must end, not when it has begun.
  const when = limits.deadlineMs === 0 ? "at the deadline" : `${limits.deadlineMs / 1_000} s after the first PAUSE`;
  const still = actOf(plan) === "restart" ? "runs as before" : "still leads";
  return { kind: "unknown", reason: `${leader} ${still} ${when}` };
}
