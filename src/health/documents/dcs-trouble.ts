import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { lockTtlMs } from "../evidence/node/freshness.ts";
import { claimsOf } from "./claim-facts.ts";
import { dcsReach, keptWithoutDcs } from "./dcs-reach.ts";
import type { Describe, Details } from "./situation-details.ts";
import { listText, spanText } from "./wording.ts";

/** What is known to be wrong with the DCS. */
export interface DcsTrouble {
  /** For the end of a sentence. */
  readonly cause: string;
  /** Since when no node reaches it, in ms of rolecall's clock, and which nodes say so; `null` if they may reach it. */
  readonly silence: { readonly sinceMs: number; readonly nodes: readonly string[] } | null;
  /** Why rolecall itself cannot read it; `null` if it can, or does not try. */
  readonly unread: string | null;
}

/** @returns `null` if nothing is known to be wrong with the DCS */
export function dcsTrouble(view: ClusterView): DcsTrouble | null {
  const { dcs } = view.cluster;
  const reach = dcsReach(view);
  const unread = dcs === null || dcs.isUp ? null : (dcs.failure?.detail ?? null);
  if (reach.kind === "silent") {
    const nodes = `no node has reached the DCS for ${spanText(view.nowMs - reach.sinceMs)}`;
    return { cause: unread === null ? nodes : `${nodes}, nor does rolecall (${unread})`, silence: reach, unread };
  }
  return unread === null ? null : { cause: `the DCS does not answer rolecall (${unread})`, silence: null, unread };
}

/** The DCS is in trouble, and the primary goes on so far. */
export function dcsWarning(view: ClusterView): Details {
  const trouble = dcsTrouble(view);
  const action = "Look at the DCS and at the network to it";
  if (trouble === null || trouble.silence === null)
    return {
      wrong: "the DCS does not answer",
      cause: trouble?.cause ?? null,
      sinceMs: null,
      next: prospect(view, "if the nodes cannot reach it either, "),
      action,
    };
  const { silence, unread } = trouble;
  return {
    wrong: "no node reaches the DCS",
    cause: `${listText(silence.nodes)} ${silence.nodes.length === 1 ? "states" : "state"} no newer contact${unread === null ? "" : `, and rolecall cannot read it (${unread})`}`,
    sinceMs: silence.sinceMs,
    next: prospect(view, ""),
    action,
  };
}

function prospect(view: ClusterView, condition: string): string {
  const [primary] = claimsOf(view).nodes;
  const name = primary ?? "the primary";
  const kept = keptWithoutDcs(view);
  if (kept === "failsafe") return `${name} goes on in failsafe mode while it reaches every member`;
  if (kept === "pause") return `${name} goes on while the cluster is paused, and nobody can take over`;
  return `${condition}${name} gives up the lock within ${lockTtlMs(view.cluster) / 1000} s`;
}

/** Puts a DCS that no node reaches before what else is wrong: it concerns the whole cluster, and may be the cause. */
export function afterDcs(describe: Describe): Describe {
  return (view, inputs) => {
    const details = describe(view, inputs);
    if (dcsReach(view).kind !== "silent") return details;
    const warning = dcsWarning(view);
    return { ...warning, cause: [warning.cause, details.cause].filter((cause) => cause !== null).join("; ") };
  };
}
