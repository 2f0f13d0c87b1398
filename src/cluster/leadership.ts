import type { Withdrawal } from "./dcs.ts";

/** Why a claim on the leader lock prevails. `sole`: no other eligible claim is left. */
export type DecisionBasis = "sole" | "views" | "own_view" | "incumbent" | "timeline" | "receivers";

/** Who leads: at most one node (rule 2). */
export type LeaderDecision =
  /**
   * No node claims the lock freshly. `lastHolder` is the last undisputed holder: a silence does not decide who leads.
   * `null` if there was none, or if claims were contested since.
   */
  | { readonly kind: "unclaimed"; readonly lastHolder: string | null }
  /** `witnesses`: the nodes whose views decided. */
  | {
      readonly kind: "held";
      readonly holder: string;
      readonly by: DecisionBasis;
      readonly witnesses: readonly string[];
    }
  /** Several claims, and nothing prefers one. */
  | { readonly kind: "contested"; readonly between: readonly string[] }
  /** Views or the DCS contradict every claim. */
  | { readonly kind: "lost" };

/** A claim that views contradicted, that the DCS withdrew, or both. */
export interface LostClaim {
  /** When the newest of those views was requested, in ms of rolecall's clock; -Infinity if no view contradicted it. */
  readonly viewMs: number;
  /** The nodes that gave those views. */
  readonly witnesses: readonly string[];
  readonly withdrawal?: Withdrawal;
}

/** The end of a node's tenure as lock holder. */
export interface LeaderLoss {
  readonly from: string;
  /** In ms of rolecall's clock. */
  readonly atMs: number;
}

/** Who leads, and what the next decision depends on. The object is replaced only when something in it changes. */
export interface Leadership {
  readonly decision: LeaderDecision;
  /**
   * The claims that views or the DCS contradicted, by node name. They stay lost until views confirm them again, and the
   * DCS names them again or is distrusted (rule 2).
   */
  readonly lostClaims: ReadonlyMap<string, LostClaim>;
  /**
   * The last node that held the lock for half an interval or longer. It breaks ties (rule 2) and is kept across a
   * restart: claims that appear together, at our own start for instance, are not ordered by the milliseconds between
   * their answers.
   */
  readonly incumbent: string | null;
  /** The last time that a holder ceased to be one. */
  readonly lastLoss: LeaderLoss | null;
}

/** The leadership of a cluster that was never probed. */
export const unknownLeadership: Leadership = {
  decision: { kind: "unclaimed", lastHolder: null },
  lostClaims: new Map(),
  incumbent: null,
  lastLoss: null,
};

/** Returns the node that holds the lock, and may get a yes for it; `null` as soon as no node does. */
export function lockHolderOf({ decision }: Leadership): string | null {
  return decision.kind === "held" ? decision.holder : null;
}

/** Returns the holder, and while no node claims the lock the last one; `null` while claims are contested or lost. */
export function lastUncontestedLeaderOf({ decision }: Leadership): string | null {
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
