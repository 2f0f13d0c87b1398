import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard, lockTtlMs, loopWaitMs } from "../evidence/node/freshness.ts";
import { claimsOf } from "./claim-facts.ts";
import type { Details } from "./situation-details.ts";
import { spanText } from "./wording.ts";

/** How much later than its loop a node may state its contact with the DCS: a slow loop, and whole seconds. In ms. */
const slackMs = 3_000;

/**
 * For how long no node has reached the DCS, by what the nodes state (`dcs_last_seen`, Patroni 3.0). A node reads the
 * DCS in each of its loops.
 * @returns in ms; `null` while one of them reaches it, or none says anything
 */
function dcsSilenceMs(view: ClusterView): number | null {
  const ages = view.cluster.nodes.flatMap((node) =>
    isHeard(view, node) && node.dcsContact !== null ? [view.nowMs - node.dcsContact.statedSinceMs] : [],
  );
  const ageMs = Math.min(...ages);
  return ages.length > 0 && ageMs >= loopWaitMs(view.cluster) + slackMs ? ageMs : null;
}

/** What is known to be wrong with the DCS, for the end of a sentence; `null` if nothing is. */
export function dcsTrouble(view: ClusterView): { readonly cause: string; readonly isOfNodes: boolean } | null {
  const { dcs } = view.cluster;
  const silentMs = dcsSilenceMs(view);
  const unread = dcs === null || dcs.isUp ? null : (dcs.failure?.detail ?? null);
  if (silentMs !== null) {
    const nodes = `no node has reached the DCS for ${spanText(silentMs)}`;
    return { cause: unread === null ? nodes : `${nodes}, nor does rolecall (${unread})`, isOfNodes: true };
  }
  return unread === null ? null : { cause: `the DCS does not answer rolecall (${unread})`, isOfNodes: false };
}

/** The DCS is in trouble, and the primary goes on so far. */
export function dcsWarning(view: ClusterView): Details {
  const trouble = dcsTrouble(view);
  const [primary] = claimsOf(view).nodes;
  const isKept = view.cluster.nodes.some((node) => isHeard(view, node) && node.report?.isFailsafe === true);
  const name = primary ?? "the primary";
  return {
    wrong: "the DCS does not answer",
    cause: trouble?.cause ?? null,
    sinceMs: null,
    next: isKept
      ? `${name} goes on in failsafe mode while it reaches every member`
      : `if the nodes cannot reach it either, ${name} gives up the lock within ${lockTtlMs(view.cluster) / 1000} s`,
    action: "Look at the DCS and at the network to it",
  };
}
