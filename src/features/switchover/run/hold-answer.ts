import type { HoldAnswer } from "../../../core/cluster/hint.ts";
import { outcomeText } from "./outcome-text.ts";
import type { SwitchoverRun } from "./switchover-run.ts";

/** What a run says to who announces that the leader stops. */
export function holdAnswerOf({ plan, state }: SwitchoverRun): HoldAnswer {
  const { run } = plan;
  if (state.kind === "switching" || state.kind === "routing") return { effect: "held", run, reason: null };
  if (!("outcome" in state)) return { effect: "holding", run, reason: null };
  return notHeld(run, outcomeText(state.outcome, plan));
}

/** @param run `null`: none runs */
export function notHeld(run: string | null, reason: string): HoldAnswer {
  return { effect: "not_held", run, reason };
}
