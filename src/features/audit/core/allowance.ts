import type { Observation } from "../../../core/cluster/observation.ts";
import type { Check } from "../../../core/health/check.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { isUnproven, type Reason } from "../../../core/health/reason.ts";
import type { Verdict } from "../../../core/health/verdict.ts";
import { memberMaker } from "../../../core/pools/pool-members.ts";

/**
 * Which sessions of a pool a node may have, and since when, in ms of rolecall's clock.
 *
 * - `untold`: there is no evidence
 * - `new`: new sessions
 * - `kept`: those that it has, and no new ones (a soft no)
 * - `none`: not even those that it has (a hard no)
 */
export type Allowance =
  | { readonly kind: "untold" }
  | { readonly kind: "new"; readonly sinceMs: number }
  | { readonly kind: "kept"; readonly sinceMs: number; readonly reason: Reason }
  | {
      readonly kind: "none";
      /** Since when it may have no new ones. */
      readonly sinceMs: number;
      /** Since when its open ones must end. */
      readonly againstMs: number;
      readonly reason: Reason;
    };

/** The allowances of a pool, by node. */
export type Allowances = ReadonlyMap<string, Allowance>;

/** The allowances of a pool, and how long they hold without a change of the cluster. */
export interface PoolAllowances {
  readonly allowances: Allowances;
  /** In ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** Judges each node of a pool: for new sessions, and for those that are open. Pure. */
export function poolAllowances(view: ClusterView, check: Check, before: Allowances): PoolAllowances {
  let validUntilMs = Infinity;
  const judgeBy = (asked: Check): ((observation: Observation) => Verdict) => {
    const memberOf = memberMaker(view, asked);
    return (observation) => {
      const member = memberOf(observation);
      validUntilMs = Math.min(validUntilMs, member.validUntilMs);
      return member.verdict;
    };
  };
  const ofNew = judgeBy(check);
  const ofOpen = judgeBy({ ...check, isForSessions: true });
  const allowances = new Map(
    view.cluster.nodes.map((observation) => {
      const { name } = observation.node;
      const verdicts = { verdict: ofNew(observation), open: () => ofOpen(observation) };
      return [name, nextAllowance(before.get(name), verdicts, view.nowMs)];
    }),
  );
  return { allowances, validUntilMs };
}

/** What a verdict means for the sessions of a node. What stays keeps its instant. */
export function nextAllowance(
  before: Allowance | undefined,
  { verdict, open }: { readonly verdict: Verdict; readonly open: () => Verdict },
  nowMs: number,
): Allowance {
  if (verdict.fit) return before?.kind === "new" ? before : { kind: "new", sinceMs: nowMs };
  if (isUnproven(verdict.reason)) return { kind: "untold" };
  const sinceMs = before?.kind === "kept" || before?.kind === "none" ? before.sinceMs : nowMs;
  const ofOpen = open();
  if (ofOpen.fit) return { kind: "kept", sinceMs, reason: verdict.reason };
  const againstMs = before?.kind === "none" ? before.againstMs : nowMs;
  return { kind: "none", sinceMs, againstMs, reason: ofOpen.reason };
}
