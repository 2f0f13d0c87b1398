import type { ClusterEvent, EventDraft, EventKind } from "../cluster-event.ts";
import { spanText } from "../../health/documents/wording.ts";

/** Something that begins with one event and ends with another. */
export interface Condition {
  readonly begins: EventDraft;
  /** A condition that changes to another level while it lasts begins anew, without an end of the former level. */
  readonly level: string;
  /** How long it has to last before it is reported, in ms. Default: 0 */
  readonly holdMs?: number;
  /** Since when it lasts, in ms of rolecall's clock, where the evidence says more than when it was found. */
  readonly sinceMs?: number;
}

/** How a condition ends, by the kind of its beginning. */
interface End {
  readonly kind: EventKind;
  readonly text: (cluster: string, node: string | null) => string;
}

const attached: End = { kind: "attached", text: (cluster, node) => `${node} of ${cluster} follows the primary again` };

const ends: { readonly [kind in EventKind]?: End } = {
  node_down: { kind: "node_up", text: (cluster, node) => `${node} of ${cluster} answers again` },
  companion_down: {
    kind: "companion_up",
    text: (cluster, node) => `the companions of ${node} of ${cluster} answer again`,
  },
  diverged: attached,
  detached: attached,
  stalled: attached,
  claims_conflict: {
    kind: "claims_resolved",
    text: (cluster) => `the claims on the leader lock of ${cluster} no longer conflict`,
  },
  stray_primary: {
    kind: "stray_ended",
    text: (cluster, node) => `${node} of ${cluster} is no primary beside the leader any more`,
  },
  system_conflict: {
    kind: "system_resolved",
    text: (cluster) => `${cluster} is no longer one of several clusters of its database system with a primary`,
  },
  pool_empty: { kind: "pool_filled", text: (cluster) => `every check of balancers has a member in ${cluster} again` },
  degraded: { kind: "restored", text: (cluster) => `all replicas of ${cluster} are fit again` },
  blind: { kind: "blind_ended", text: (cluster) => `rolecall gets answers from ${cluster} again` },
  paused: { kind: "resumed", text: (cluster) => `${cluster} is no longer paused` },
  wedged: { kind: "wedged_ended", text: (cluster, node) => `${node} of ${cluster} works again, or is not the primary` },
  dcs_unreachable: { kind: "dcs_reachable", text: (cluster) => `a node of ${cluster} reaches the DCS again` },
  dcs_lost: { kind: "dcs_restored", text: (cluster) => `the DCS of ${cluster} is watched again` },
  dcs_distrusted: { kind: "dcs_trusted", text: (cluster) => `the DCS of ${cluster} is trusted again` },
  address_disputed: {
    kind: "address_settled",
    text: (cluster, node) => `the address of ${node} of ${cluster} is no longer disputed`,
  },
  address_unlisted: {
    kind: "address_listed",
    text: (cluster, node) => `${node} of ${cluster} no longer answers at an unlisted address alone`,
  },
  routes_differ: {
    kind: "routes_agree",
    text: (cluster, node) =>
      `the traffic of ${node === null ? "" : `${node} of `}${cluster} goes where it should again`,
  },
  failsafe: { kind: "failsafe_ended", text: (cluster) => `${cluster} no longer runs in failsafe mode` },
};

/**
 * Identifies a condition within its cluster, by the event that begins or ends it. A replica is diverged, detached or
 * stalled, not several at a time.
 * @returns `null` for an event that neither begins nor ends a condition
 */
export function conditionKey({ kind, node }: Pick<ClusterEvent, "kind" | "node">): string | null {
  const end = ends[kind]?.kind ?? kind;
  return Object.values(ends).some((known) => known.kind === end) ? `${end}/${node ?? ""}` : null;
}

/** Whether an event begins a mark on a replica: that it is diverged, detached or stalled. */
export function isAttachmentMark({ kind }: Pick<ClusterEvent, "kind">): boolean {
  return ends[kind] === attached;
}

/**
 * Whether a process needs some time before it finds a condition that began before its start: marks of replicas need
 * `attach_window`, and the audit as many looks at a target as its mechanism takes.
 */
export function isFoundLate(event: Pick<ClusterEvent, "kind">): boolean {
  return isAttachmentMark(event) || event.kind === "routes_differ";
}

/** Whether an event begins a condition. */
export function isBeginning({ kind }: Pick<ClusterEvent, "kind">): boolean {
  return ends[kind] !== undefined;
}

/** The beginning of a condition, with defaults for what a condition of a whole cluster has not. */
export function beginning(
  event: Pick<EventDraft, "kind" | "severity" | "cluster" | "message"> & Partial<EventDraft>,
): EventDraft {
  return { node: null, cause: null, figures: {}, ...event };
}

/**
 * The event that ends a condition.
 * @param begins the event that began it
 * @param time how long it lasted, and how long ago it ended, in ms
 * @returns `null` if the event began none
 */
export function endOf(
  { kind, cluster, node }: Pick<EventDraft, "kind" | "cluster" | "node">,
  { forMs, agoMs }: { readonly forMs: number; readonly agoMs: number },
): EventDraft | null {
  const end = ends[kind];
  if (end === undefined || cluster === null) return null;
  return {
    kind: end.kind,
    severity: "info",
    cluster,
    node,
    message: `${end.text(cluster, node)} after ${spanText(forMs)}`,
    cause: null,
    figures: { duration_ms: Math.round(forMs) },
    agoMs,
  };
}
