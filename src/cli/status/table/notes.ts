import { restrictingTags } from "../../../cluster/values/tags.ts";
import type { DrainOverview } from "../../../health/documents/overview.ts";
import type { StatusCluster, StatusNode } from "../../client/cluster-status.ts";
import { formatKnownDuration } from "../../output/figures.ts";
import type { Style } from "../../output/style.ts";
import { nodeCondition } from "../selection/condition.ts";
import type { ShownCluster } from "../selection/shown-cluster.ts";

/** The reasons that say the same as the warning before them. */
const warningReasons = ["detached", "stalled"];

/** The notes on a node: why it is unfit, its warning, its drain, and marks such as `pending restart`. */
export function nodeNotes(node: StatusNode): string {
  const { reason, warning, drain, pending_restart: isPending, scheduled_restart: restartAt } = node;
  return [
    ...(drain === null ? [] : [drainNote(drain)]),
    ...(reason === null || ((reason === "drained" || reason === "distrusted") && drain !== null)
      ? []
      : [reasonText(node, reason)]),
    ...(warning === null || warningReasons.includes(reason ?? "") ? [] : [`warning: ${warning}`]),
    ...(isPending ? ["pending restart"] : []),
    ...(restartAt === null ? [] : [`restart scheduled at ${restartAt}`]),
    ...restrictingTags.filter((tag) => node.tags[tag] !== undefined),
  ].join("; ");
}

/** Chooses the colour of a node's notes. */
export function paintOfNotes(node: StatusNode, style: Style): (text: string) => string {
  const condition = nodeCondition(node);
  return condition === "unfit" ? style.red : condition === "warning" ? style.yellow : style.dim;
}

/** One part of the line above the nodes of a cluster. */
export interface TitlePart {
  readonly text: string;
  readonly paint: (text: string) => string;
}

/** Says in a few words how a cluster is: what is wrong, its leader, and what is planned. */
export function clusterTitle({ cluster, condition, fitNodes }: ShownCluster, style: Style): readonly TitlePart[] {
  const { leader, timeline, paused, failsafe, nodes, scheduled_switchover: plan } = cluster;
  const isSevere = condition === "blind" || condition === "without a primary" || condition === "without nodes";
  return [
    ...(isSevere ? [{ text: condition, paint: style.red }] : []),
    leader === null ? { text: "no leader", paint: style.red } : unpaintedPart(`leader ${leader}`),
    ...(timeline === null ? [] : [unpaintedPart(`timeline ${timeline}`)]),
    ...(fitNodes === nodes.length ? [] : [{ text: `${fitNodes} of ${nodes.length} fit`, paint: style.yellow }]),
    ...(paused ? [{ text: "paused", paint: style.yellow }] : []),
    ...(failsafe ? [{ text: "failsafe", paint: style.yellow }] : []),
    ...(plan === null ? [] : [{ text: switchoverText(plan), paint: style.yellow }]),
  ];
}

function unpaintedPart(text: string): TitlePart {
  return { text, paint: (plain) => plain };
}

/** The detail of a failed probe repeats the node's address; one word is enough in a table. */
function reasonText({ detail, error }: StatusNode, reason: string): string {
  const cause = error !== null && ["down", "stale", "unknown"].includes(reason) ? error : detail;
  return cause === null ? reason : `${reason}: ${cause}`;
}

function switchoverText({ at, from, to }: NonNullable<StatusCluster["scheduled_switchover"]>): string {
  return `switchover${from === null ? "" : ` from ${from}`}${to === null ? "" : ` to ${to}`} scheduled at ${at}`;
}

function drainNote({ distrust, remaining_ms: ms, reason }: DrainOverview): string {
  return `${distrust ? "distrusted" : "drained"} for ${formatKnownDuration(ms)}: ${reason}`;
}
