import type { Check } from "../../core/health/check.ts";
import type { Reason } from "../../core/health/reason.ts";
import { oneNodeRoutes } from "../../core/health/route.ts";
import type { Verdict } from "../../core/health/verdict.ts";

/**
 * What an agent advises about a server. `use`: it is fit; `drain`: no new sessions; `checks`: the balancer's own checks
 * decide.
 */
export type AgentAdvice = "use" | "drain" | "checks";

/** Reasons that end by themselves while the node goes on in its role: only they drain a server. */
const drainReasons: ReadonlySet<Reason> = new Set<Reason>([
  "lagging",
  "lag_unknown",
  "stalled",
  "min_lsn",
  "tag",
  "noloadbalance",
  "drained",
  "held_back",
  "other_zone",
  "companion",
]);

/**
 * Returns what an agent advises for a verdict. All that an agent answers stays in force when the agent dies. So a no
 * that a failover turns into a yes (another role, every no of a leader's pool) and every hard no are left to the
 * checks: a new primary must never stay without sessions because the agent died before it could take its answer back.
 */
export function agentAdviceFor(verdict: Verdict, check: Check): AgentAdvice {
  if (verdict.fit) return "use";
  return drainReasons.has(verdict.reason) && !oneNodeRoutes.has(check.route) ? "drain" : "checks";
}

/** The words of an answer, before its text. */
export interface AgentWords {
  /** Ends a drain of our own. */
  readonly isReady?: boolean;
  /** Drains by the administrative state. */
  readonly isDrained?: boolean;
  /** In percent; `null` leaves the weight as it is. */
  readonly percent: number | null;
}

/**
 * Writes an answer without its line end: `up 75%`. `up` does not make a server pass its checks: it only ends a `down`
 * that another agent left. `down`, `maint`, `stopped` and `fail` are never answered.
 * @param verdict its reason follows as the comment that HAProxy shows
 */
export function agentAnswer({ isReady = false, isDrained = false, percent }: AgentWords, verdict: Verdict): string {
  const words = ["up"];
  if (isReady) words.push("ready");
  if (isDrained) words.push("drain");
  if (percent !== null) words.push(`${percent}%`);
  const drain = percent === 0 || isDrained ? "drain: " : "";
  return verdict.fit ? words.join(" ") : `${words.join(" ")} # ${drain}${reasonText(verdict)}`;
}

function reasonText({ reason, figure }: Extract<Verdict, { readonly fit: false }>): string {
  return figure === null ? reason : `${reason} ${figure.replaceAll(/[^\x20-\x7e]/g, "?")}`;
}
