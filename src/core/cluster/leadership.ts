import type { Withdrawal } from "./dcs.ts";

/**
 * Why a claim on the leader lock prevails (rule 2). `sole`: no other eligible claim is left. `views`: most views of
 * nodes without a claim name this claimant. `own_view`: it is the only claimant whose own view names it. `incumbent`:
 * it led before. `timeline`: it has the highest timeline. `receivers`: standbys receive WAL from it; only for nodes
 * that are known through their exporters alone.
 */
export type DecisionBasis = "sole" | "views" | "own_view" | "incumbent" | "timeline" | "receivers";

/** Who leads: at most one node (rule 2). */
export type LeaderDecision =
  /**
   * No node has a fresh claim on the lock. `lastHolder` is the last undisputed holder; it may still lead although it
   * is silent. It is `null` if there was none, or if claims were contested since.
   */
  | { readonly kind: "unclaimed"; readonly lastHolder: string | null }
  /** `witnesses`: the nodes whose views decided. */
  | {
      readonly kind: "held";
      readonly holder: string;
      readonly by: DecisionBasis;
      readonly witnesses: readonly string[];
    }
  /** There are several claims, and no evidence decides between them. */
  | { readonly kind: "contested"; readonly between: readonly string[] }
  /** Every claim is lost. */
  | { readonly kind: "lost" };

/**
 * The mark of a claim that was refused while another node stood, because a view of a third node did not name it (rule
 * 2). A third node is neither the claimant nor the node that stood.
 */
export interface RefusedClaim {
  /** The address of the claimant's API. The mark is of what answers there. */
  readonly api: string;
  /** The node that stood. */
  readonly beside: string;
  /** When the newest view that marked the claim was requested, in ms of rolecall's clock; 0 if an earlier run did. */
  readonly viewSentAtMs: number;
}

/** Why a claim is lost: views contradict it, the DCS withdrew it, it was refused beside another, or several reasons. */
export interface ClaimLoss {
  /** When the newest of those views was requested, in ms of rolecall's clock; -Infinity if no view contradicted it. */
  readonly viewSentAtMs: number;
  /** The nodes that gave those views. */
  readonly witnesses: readonly string[];
  readonly withdrawal?: Withdrawal;
  readonly refused?: RefusedClaim;
}

/** The end of a node's tenure as lock holder. */
export interface LeaderLoss {
  readonly node: string;
  /** In ms of rolecall's clock. */
  readonly atMs: number;
}

/** The claim that stood last when an earlier run saved it (guard `survive`). */
export interface SavedClaim {
  readonly node: string;
  /** The address of its API: another server may answer elsewhere. */
  readonly api: string;
  readonly system: string | null;
  /** When its last answer with the claim was requested, in ms of rolecall's clock: before 0. */
  readonly atMs: number;
}

/** Who leads, and what the next decision depends on. The object is replaced only when something in it changes. */
export interface Leadership {
  readonly decision: LeaderDecision;
  /**
   * The claims that views or the DCS contradicted, by node name (rule 2). A claim that views contradicted stays lost
   * until newer views restore it. A claim that the DCS withdrew stays lost until the DCS names its node again or is
   * distrusted. If both apply, both must end.
   */
  readonly lostClaims: ReadonlyMap<string, ClaimLoss>;
  /** The marks of claims that were refused while another node stood, by node name (rule 2). Kept across a restart. */
  readonly refusedClaims: ReadonlyMap<string, RefusedClaim>;
  /**
   * The last node that held the lock for half an interval or longer. It breaks ties (rule 2) and is kept across a
   * restart. A shorter tenure does not count: if claims appear together, for instance when rolecall starts, it must not
   * matter which of them was answered some milliseconds earlier.
   */
  readonly incumbent: string | null;
  /** Since when the present holder has been accepted without a break, in ms of rolecall's clock; `null` without one. */
  readonly heldSinceMs: number | null;
  /** The last time that a holder ceased to be one. */
  readonly lastLoss: LeaderLoss | null;
  /** What an earlier run saved; `null` if nothing. Counts until its node answers, or another claim stands. */
  readonly savedClaim: SavedClaim | null;
}

/** The leadership of a cluster that was never probed. */
export const unknownLeadership: Leadership = {
  decision: { kind: "unclaimed", lastHolder: null },
  lostClaims: new Map(),
  refusedClaims: new Map(),
  incumbent: null,
  heldSinceMs: null,
  lastLoss: null,
  savedClaim: null,
};

/** Returns the node that holds the lock by the present decision; `null` if no node does. */
export function lockHolderOf({ decision }: Leadership): string | null {
  return decision.kind === "held" ? decision.holder : null;
}

/** Returns the present or last lock holder; if neither is known, the incumbent; `null` without one. */
export function lastLeaderOf(leadership: Leadership): string | null {
  return presentOrLastHolderOf(leadership) ?? leadership.incumbent;
}

/** Returns the node whose claim stood last, however shortly; `null` if none ever did. */
export function lastStandingOf(leadership: Leadership): string | null {
  return lockHolderOf(leadership) ?? leadership.lastLoss?.node ?? leadership.incumbent;
}

/** Returns the lock holder; if no node claims the lock, the last holder; `null` while claims are contested or lost. */
export function presentOrLastHolderOf({ decision }: Leadership): string | null {
  switch (decision.kind) {
    case "held":
      return decision.holder;
    case "unclaimed":
      return decision.lastHolder;
    case "contested":
    case "lost":
      return null;
  }
}
