import { listText } from "../../../core/health/wording.ts";
import { actOf, pauseName, type SwitchoverPlan } from "../machine/plan.ts";
import { isLed, type LeftTarget, type Outcome, type SettledOutcome } from "../machine/state.ts";

/** What the sentence about an outcome says of its run. */
export type OutcomeOf = Pick<SwitchoverPlan, "leader" | "candidate" | "targets" | "start" | "cutsAtEnd">;

/** The outcome of a switchover as sentences, computed from what was read back, pooler by pooler. */
export function outcomeText(outcome: Outcome, plan: OutcomeOf): string {
  if (outcome.kind !== "unfinished") return settledText(outcome, plan);
  const names = plan.targets.map(pauseName).filter((name) => outcome.left.every(({ target }) => target !== name));
  const going = names.length === 0 ? [] : [`Clients of ${listText(names)} go on${whereOf(outcome.of, plan)}.`];
  return [unfinishedText(outcome.of, plan), ...going, ...outcome.left.map((left) => leftText(left, outcome.of))].join(
    " ",
  );
}

function settledText(outcome: SettledOutcome, plan: OutcomeOf): string {
  if (plan.start === "loss" && outcome.kind === "no_primary")
    return plan.cutsAtEnd
      ? "The limit is over, and no node is the primary: the clients that waited were cut."
      : "The limit is over, and no node is the primary: clients wait on until query_wait_timeout of their pooler.";
  if (plan.start === "loss" && (outcome.kind === "refused" || outcome.kind === "aborted"))
    return `No clients are held: ${outcome.reason}.`;
  switch (outcome.kind) {
    case "dry_run":
      return "A dry run: nothing was changed.";
    case "refused":
      return `Refused: ${outcome.reason}. Nothing was changed.`;
    case "aborted":
      return `Stopped before the ${actOf(plan)}: ${outcome.reason}. Clients go on with ${plan.leader}; nothing was changed.`;
    case "rejected":
      return `${refusedText(outcome, plan)} Nothing was changed.`;
    case "restarted":
      return `${outcome.node} has been restarted, and clients go on there.`;
    case "switched":
      return `${outcome.node} is the primary${asAsked(outcome.node, plan)}, and clients go on there.`;
    case "stayed":
      return `Clients go on: ${outcome.reason}.`;
    case "unknown":
      return `Clients go on: ${outcome.reason}. A ${actOf(plan)} may still happen.`;
    case "no_primary":
      if (plan.start === "restart") return `Clients go on, although ${plan.leader} has not come back in time.`;
      return "Clients go on, and no node is the primary. A switchover may still happen.";
  }
}

/** What happened to the cluster, where not all clients are known to go on. */
function unfinishedText(outcome: SettledOutcome, plan: OutcomeOf): string {
  switch (outcome.kind) {
    case "aborted":
      return `Stopped before the ${actOf(plan)}: ${outcome.reason}.`;
    case "rejected":
      return refusedText(outcome, plan);
    case "restarted":
      return `${outcome.node} has been restarted.`;
    case "switched":
      return `${outcome.node} is the primary${asAsked(outcome.node, plan)}.`;
    case "stayed":
      return `No node took over: ${outcome.reason}.`;
    case "unknown":
      return plan.start === "restart"
        ? `Whether ${plan.leader} is restarted is not known: ${outcome.reason}.`
        : `Whether the cluster switches over is not known: ${outcome.reason}.`;
    case "no_primary":
      if (plan.start === "restart") return `${plan.leader} has not come back in time.`;
      return "No node is the primary. A switchover may still happen.";
    case "dry_run":
    case "refused":
      return settledText(outcome, plan);
  }
}

function refusedText(
  { status, reason }: Extract<SettledOutcome, { readonly kind: "rejected" }>,
  plan: OutcomeOf,
): string {
  const who = plan.start === "restart" ? plan.leader : "The cluster";
  return `${who} refused the ${actOf(plan)} (${status}): ${reason}.`;
}

function asAsked(node: string, { candidate, start, leader }: OutcomeOf): string {
  if (start === "restart") return `: ${leader} has not come back as the primary`;
  return candidate === null || candidate === node ? "" : `, not ${candidate} as asked`;
}

function whereOf({ kind }: SettledOutcome, { leader }: OutcomeOf): string {
  if (kind === "switched" || kind === "restarted") return " there";
  return kind === "aborted" || kind === "rejected" ? ` with ${leader}` : "";
}

function leftText({ target, state, problem }: LeftTarget, of: SettledOutcome): string {
  const why = problem === null ? "" : ` (${problem})`;
  if (state === "paused") return `Clients of ${target} may still wait${why}: rolecall goes on to resume it.`;
  const where = isLed(of) ? of.node : "the primary";
  return `${target} was not seen to lead to ${where}${why}: its clients may reach another node.`;
}
