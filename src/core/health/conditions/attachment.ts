/** Replicas that do not follow the primary (rules 5 and 6). */
import { attachmentWarning } from "../evidence/attachment/attachment-warning.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { Observation } from "../../cluster/observation.ts";
import { attachmentFigures, type AttachmentMark, type ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case } from "./condition.ts";
import { explained, type NodeStanding } from "./node-standing.ts";
import { foundEnds } from "./event-kinds.ts";

const followsAgain = (cluster: string, node: string | null): string =>
  `${node} of ${cluster} follows the primary again`;

/** A replica is diverged, detached or stalled, not several at a time: one end is that of all. */
const marked = { ends: foundEnds.detached, endText: followsAgain, isFoundLate: true } as const;

/** A replica has WAL that the primary does not have. */
export const diverged = {
  id: "diverged",
  title: "a replica has WAL that the primary does not have",
  harm: "diverged",
  events: {
    begins: "diverged",
    severities: ["error"],
    reason: "diverged",
    holds: (facts: ClusterFacts) =>
      marksFound(facts, "diverged", {
        severity: "error",
        otherwise: "it has WAL that the primary does not have, and must be rewound or copied anew",
      }),
    ...marked,
  },
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason }) => reason === "diverged",
    advice: ({ node }) => ({
      next: "it stays out until it has the leader's WAL only; its Patroni may rewind it",
      action: `Save what clients wrote on ${node} alone; if Patroni does not rewind it, reinitialize it`,
    }),
  },
  remedies: {
    diverged:
      "it must have the leader's WAL only: its Patroni may rewind it; else save what clients wrote there, then copy it anew with rolecall node reinitialize",
  },
  alerts: ["RolecallReplicaDiverged"],
} as const satisfies Condition;

/** A replica does not receive WAL from the primary. */
export const detached = {
  id: "detached",
  title: "a replica does not receive WAL from the primary",
  harm: "missing",
  events: {
    begins: "detached",
    severities: ["warning"],
    reason: "detached",
    holds: (facts: ClusterFacts) =>
      marksFound(facts, "detached", { severity: "warning", otherwise: "it does not receive WAL from the primary" }),
    ...marked,
  },
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason }) => reason === "detached",
    sinceMs: markedSinceMs,
    advice: lookAtReceiver,
  },
  remedies: {
    detached: "it must receive WAL from the leader again: check primary_conninfo, the slot and the network",
  },
  alerts: ["RolecallReplicaDetached"],
} as const satisfies Condition;

/** A replica is listed by its sender, and does not advance. */
export const stalled = {
  id: "stalled",
  title: "a replica is listed by its sender, and does not advance",
  harm: "missing",
  events: {
    begins: "stalled",
    severities: ["warning"],
    reason: "stalled",
    holds: (facts: ClusterFacts) =>
      marksFound(facts, "stalled", { severity: "warning", otherwise: "it does not advance" }),
    ...marked,
  },
  status: { within: "degraded" },
  ofNode: {
    isOf: ({ reason }) => reason === "stalled",
    sinceMs: markedSinceMs,
    advice: lookAtReceiver,
  },
  remedies: { stalled: "its position must move again: check its WAL receiver and the network to the leader" },
  alerts: ["RolecallReplicaStalled"],
} as const satisfies Condition;

/** Before a mark: what counts against the attachment of a replica so far. The mark is an event. */
export const attachmentInDoubt = {
  id: "attachment_in_doubt",
  title: "a replica may not follow the primary",
  harm: "doubtful",
  status: { within: "node_warned" },
  ofNode: {
    warning: doubtOf,
    isOf: ({ reason, warning }, view, observation) =>
      reason === null && warning !== null && warning === doubtOf(view, observation),
    advice: explained.warned,
  },
  alerts: [],
} as const satisfies Condition;

function doubtOf(view: ClusterView, observation: Observation): string | null {
  return view.lock.holder === observation.node.name ? null : attachmentWarning(view, observation);
}

function marksFound(
  facts: ClusterFacts,
  mark: AttachmentMark,
  { severity, otherwise }: Pick<Case, "severity"> & { readonly otherwise: string },
): readonly Case[] {
  const { cluster, nodes } = facts;
  return nodes.flatMap(({ node, observation, mark: found }) => {
    if (found !== mark) return [];
    const { warning, lagBytes } = attachmentFigures(facts, observation);
    const cause = mark === "diverged" ? null : warning;
    const timeline = observation.report?.timeline ?? null;
    const figures = {
      ...(lagBytes === null ? {} : { lag_bytes: lagBytes }),
      ...(timeline === null ? {} : { timeline }),
    };
    const message = `${node} of ${cluster} is ${mark}: ${cause ?? otherwise}`;
    return [oneCase({ severity, node, message, cause, figures, level: mark })];
  });
}

function markedSinceMs(_view: ClusterView, { sentAtMs, attachment }: Observation): number | null {
  const heldMs = attachment.silentMs + attachment.listedMs;
  return heldMs > 0 ? sentAtMs - heldMs : null;
}

function lookAtReceiver({ node }: NodeStanding): { readonly next: string; readonly action: string } {
  return {
    next: "it returns when it receives WAL from the primary again",
    action: `Look at the WAL receiver of ${node}`,
  };
}
