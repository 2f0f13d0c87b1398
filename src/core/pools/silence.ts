import type { Observation } from "../cluster/observation.ts";
import type { FailureKind } from "../cluster/values/failure.ts";
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
 * Whether rolecall knows nothing for or against a member now (rule 16): it was never heard, the cluster is blind or is about
 * to be, or its evidence aged although the node itself has missed no answer, so that rolecall is late. Who has such a
 * member leaves it as it was: what is not known is never "none". A pool of one node never holds two: another one that
 * stands is evidence.
 */
export function isLeftAsItWas(
  view: Pick<ClusterView, "lock" | "cluster" | "maxAgeMs">,
  { route }: Pick<Check, "route">,
  { observation, verdict }: JudgedMember,
): boolean {
  if (verdict.fit || !lacksEvidence(verdict.reason, observation, view)) return false;
  const { lock } = view;
  const isAnotherStanding = lock.holder !== null && lock.holder !== observation.node.name;
  return !(isAnotherStanding && oneNodeRoutes.has(route));
}

function lacksEvidence(
  reason: Extract<Verdict, { readonly fit: false }>["reason"],
  observation: Observation,
  view: Pick<ClusterView, "cluster" | "maxAgeMs">,
): boolean {
  if (reason === "blind" || reason === "unknown") return true;
  if (reason === "stale" && observation.failuresInRow === 0) return true;
  return (reason === "stale" || reason === "down") && isCutOff(observation, view);
}

/** Ways in which a node that cannot be reached fails, and in which one fails that is down. */
const silences: ReadonlySet<FailureKind> = new Set<FailureKind>(["timeout", "unreachable"]);

/**
 * Whether every node fell silent together: rolecall is cut off, and not blind yet. The node that is asked first counts as
 * down, or its evidence as old, before the others do. One that refuses connections is heard, and one that was down before says nothing.
 */
function isCutOff(
  { node, sentAtMs, failure }: Observation,
  { cluster, maxAgeMs }: Pick<ClusterView, "cluster" | "maxAgeMs">,
): boolean {
  if (failure === null || !silences.has(failure.kind)) return false;
  const others = cluster.nodes.filter((one) => one.node.name !== node.name && one.sentAtMs >= sentAtMs - maxAgeMs);
  return others.length > 0 && others.every((one) => one.failure !== null && silences.has(one.failure.kind));
}
