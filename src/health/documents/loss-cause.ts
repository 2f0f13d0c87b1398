import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { ClaimFacts } from "./claim-facts.ts";
import { dcsTrouble } from "./dcs-trouble.ts";
import { listText, lostClaimText, spanText } from "./wording.ts";

/**
 * Why a cluster has no primary, as far as rolecall knows. A DCS that does not answer is the first cause.
 * @param previous the last primary
 */
export function lossCause(
  view: ClusterView,
  claims: Pick<ClaimFacts, "nodes" | "holder">,
  previous: string | null,
): string {
  const trouble = dcsTrouble(view);
  const cause = causeOfNodes(view, claims, previous);
  return trouble === null ? cause : `${trouble.cause}; ${cause}`;
}

function causeOfNodes(
  view: Pick<ClusterView, "cluster" | "maxAgeMs" | "nowMs">,
  claims: Pick<ClaimFacts, "nodes" | "holder">,
  previous: string | null,
): string {
  const known = nodeNamed(view.cluster, claims.holder ?? previous);
  if (claims.holder === null && claims.nodes.length > 1) return `${listText(claims.nodes)} claim the leader lock`;
  if (known === undefined || known.report === null) return "no node holds the leader lock";
  const name = known.node.name;
  const failure = known.failure?.detail ?? null;
  if (known.isDown) return `${name} is down${failure === null ? "" : ` (${failure})`}`;
  if (known.failuresInRow > 0) return `${name} does not answer${failure === null ? "" : `: ${failure}`}`;
  if (view.nowMs - known.sentAtMs >= view.maxAgeMs)
    return `${name} has not been probed for ${spanText(view.nowMs - known.sentAtMs)}`;
  const { role, state } = known.report;
  if (state === "stopping" && (claims.holder === name || known.hasLock))
    return `${name} is being stopped: a switchover, a restart, or its cluster manager gives up the lock`;
  if (claims.holder === name) return `${name} holds the leader lock, but is not writable (role ${role}, ${state})`;
  const loss = view.cluster.leadership.lostClaims.get(name);
  if (known.hasLock && loss?.withdrawal !== undefined) return lostClaimText(name, loss);
  if (known.hasLock) return `the cluster does not confirm the claim of ${name} on the leader lock`;
  return `${name} no longer holds the leader lock (role ${role}, ${state})`;
}
