import type { Observation } from "../cluster/observation.ts";
import type { Check } from "../health/check.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { oneNodeRoutes } from "../health/route.ts";
import type { Verdict } from "../health/verdict.ts";

/** A member of a pool, and the verdict on it. */
interface JudgedMember {
  readonly observation: Observation;
  readonly verdict: Verdict;
}

/**
 * Whether rolecall knows nothing for or against a member now (rule 16): it was never heard, the cluster is blind, or its
 * evidence aged although the node itself has missed no answer, so that rolecall is late. Who has such a member leaves it
 * as it was: what is not known is never "none". A pool of one node never holds two: another one that stands is evidence.
 */
export function isLeftAsItWas(
  { lock }: Pick<ClusterView, "lock">,
  { route }: Pick<Check, "route">,
  { observation, verdict }: JudgedMember,
): boolean {
  if (verdict.fit || !lacksEvidence(verdict.reason, observation)) return false;
  const isAnotherStanding = lock.holder !== null && lock.holder !== observation.node.name;
  return !(isAnotherStanding && oneNodeRoutes.has(route));
}

function lacksEvidence(
  reason: Extract<Verdict, { readonly fit: false }>["reason"],
  { failuresInRow }: Pick<Observation, "failuresInRow">,
): boolean {
  return reason === "blind" || reason === "unknown" || (reason === "stale" && failuresInRow === 0);
}
