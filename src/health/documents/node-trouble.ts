import { nodeNamed } from "../../cluster/lookup.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isUnlisted } from "../evidence/node/unlisted.ts";
import { presentLag } from "../evidence/position/present-lag.ts";
import type { NodeCondition, NodeOverview } from "./node-overview.ts";
import { type Describe, type Details, nothing } from "./situation-details.ts";
import { lostDcsText } from "./dcs-reach.ts";
import { wedgedPrimary, wedgedText } from "./wedged.ts";
import { isUnanswered } from "./node-silence.ts";
import { countText } from "./wording.ts";

/** A condition that nodes have: the worst of them, by name. */
export function ofNodes(condition: NodeCondition): Describe {
  return (view, { nodes }) => {
    const concerned = nodes.filter((node) => node.condition === condition);
    const [first] = concerned;
    const observation = nodeNamed(view.cluster, first?.node ?? null);
    if (first === undefined || observation === undefined) return nothing;
    const words = concerned.slice(0, 3).map((node) => `${nodeTrouble(node)}${replayTrouble(view, node)}`);
    const more = concerned.length > words.length ? ` and ${concerned.length - words.length} more` : "";
    return {
      wrong: `${countText(concerned.length, "node")} ${wrongOfNodes[condition]}`,
      cause: `${words.join("; ")}${more}`,
      sinceMs: sinceOfNode(view, observation, first),
      ...(isUnlisted(view, observation)
        ? unlistedProspect
        : (wedgedProspect(view, first) ?? cutOffProspect(view, observation, first) ?? prospectOf(first))),
    };
  };
}

/** A duration follows: `1 node out for 8 s`. */
const wrongOfNodes: { readonly [condition in NodeCondition]: string } = {
  unfit: "out",
  warning: "with a warning",
  drained: "drained",
  ok: "",
};

function nodeTrouble({ node, reason, detail, warning, refused, asked, drain }: NodeOverview): string {
  if (reason === "drained" && drain !== null) return `${node}: ${drain.reason}`;
  // The figure of a mark is how long it lasts, which the headline says; the warning says what it rests on.
  const why = isMark(reason) ? (warning ?? detail) : detail;
  if (reason !== null) return `${node} is ${reason}${why === null ? "" : ` (${why})`}`;
  const [first] = refused;
  if (first === undefined) return `${node}: ${warning}`;
  const figure = first.detail === null ? "" : ` ${first.detail}`;
  const beside = warning === null ? "" : `; ${warning}`;
  return `${node} is refused in ${refused.length} of ${asked} checks: ${first.reason}${figure} (${first.pool ?? first.check})${beside}`;
}

/**
 * Says that a replica lags because it does not replay what it receives, as after `pg_wal_replay_pause` or while a query
 * blocks the replay; else nothing.
 */
function replayTrouble({ cluster }: ClusterView, { node, reason, refused, lag_bytes: lag }: NodeOverview): string {
  if (reason !== "lagging" && refused.length === 0) return "";
  const { received, replayed } = nodeNamed(cluster, node)?.report ?? {};
  if (typeof received !== "number" || typeof replayed !== "number" || lag === null) return "";
  const waiting = received - replayed;
  return waiting > 0 && waiting >= lag / 2 ? `; ${formatByteSize(waiting)} of WAL is received and not replayed` : "";
}

/** Since when a node has its trouble, in ms of rolecall's clock; `null` if that is not known. */
function sinceOfNode(
  view: ClusterView,
  observation: Observation,
  { reason, refused, role, state, condition }: NodeOverview,
): number | null {
  const { sentAtMs, attachment, lastHeldAtMs } = observation;
  if (reason === "down" || reason === "stale") return sentAtMs;
  if (isMark(reason)) {
    const heldMs = attachment.silentMs + attachment.listedMs;
    return heldMs > 0 ? sentAtMs - heldMs : null;
  }
  if (reason === "lagging" || refused.length > 0) return presentLag(view, observation).growsSinceMs;
  if (condition === "warning" && isUnanswered(view, observation)) return sentAtMs;
  const wedged = condition === "warning" ? wedgedPrimary(view) : null;
  if (wedged?.node === observation.node.name) return wedged.sinceMs;
  return isChangingRole({ role, state }) ? lastHeldAtMs : null;
}

/** Whether a node starts or stops PostgreSQL, as an old primary does before it follows the new one. */
function isChangingRole({ role, state }: Pick<NodeOverview, "role" | "state">): boolean {
  return role === "demoted" || ["starting", "stopping", "restarting", "stopped"].includes(state ?? "");
}

const unlistedProspect: Pick<Details, "next" | "action"> = {
  next: "no member list names it any more, and rolecall asks it for a day before it forgets it",
  action: "If it was removed, reload rolecall (SIGHUP), which forgets it at once",
};

/** Of a primary whose warning is that it only looks alive; else `null`. */
function wedgedProspect(view: ClusterView, { node, warning }: NodeOverview): Pick<Details, "next" | "action"> | null {
  const wedged = warning === null ? null : wedgedPrimary(view);
  if (wedged === null || wedged.node !== node || warning !== wedgedText(wedged)) return null;
  return {
    next: `it keeps the writes while it holds the lock: no other node could take them`,
    action: `Look at the disk of ${node} and at the log of its Patroni; if it does not recover, fail over`,
  };
}

/** Of a node whose only warning is that it does not reach the DCS; else `null`. */
function cutOffProspect(
  view: ClusterView,
  observation: Observation,
  { node, reason, refused, warning }: NodeOverview,
): Pick<Details, "next" | "action"> | null {
  if (reason !== null || refused.length > 0 || warning === null || warning !== lostDcsText(view, observation))
    return null;
  return {
    next:
      view.lock.holder === node
        ? `${node} gives up the lock if this lasts, and another node takes it`
        : `${node} goes on as it is, and cannot take the lock`,
    action: `Look at the network from ${node} to the DCS, and at the log of its Patroni`,
  };
}

function prospectOf(overview: NodeOverview): Pick<Details, "next" | "action"> {
  const { node, reason, drain, verdicts, was, refused } = overview;
  const route = verdicts["primary"] === "fit" || verdicts["replica"] === "wrong_role" ? "/primary" : "/replica";
  const explain = `Run \`rolecall explain ${quoted(refused[0]?.check ?? route)} --node ${node}\``;
  if (reason === "drained" && drain !== null)
    return {
      next: `the drain ends at ${drain.until}`,
      action: `Undrain it when it is done: \`rolecall undrain ${node}\``,
    };
  if (reason === "down" || reason === "stale")
    return {
      next: "it is asked again at every interval, and returns when it answers",
      action:
        was === "primary"
          ? `Make sure that its PostgreSQL has stopped: only its Patroni is asked. Then look at ${node}`
          : `Look at ${node} and its Patroni`,
    };
  if (isMark(reason))
    return {
      next: "it returns when it receives WAL from the primary again",
      action: `Look at the WAL receiver of ${node}`,
    };
  if (reason === "diverged")
    return { next: "it stays out until it is rewound or copied anew", action: `Reinitialize ${node}` };
  if (reason === null && refused.length === 0)
    return { next: "it is taken out if this lasts, and the warning ends when it is over", action: explain };
  if (reason === "lagging" || reason === "lag_unknown" || refused.length > 0)
    return { next: "it returns when its lag is within the limit", action: explain };
  if (isChangingRole(overview))
    return {
      next: "it returns when its PostgreSQL runs as a replica",
      action: `Wait some seconds, then look at PostgreSQL and its log on ${node}`,
    };
  return { next: null, action: explain };
}

function isMark(reason: NodeOverview["reason"]): boolean {
  return reason === "detached" || reason === "stalled";
}

/** For a shell, which gives `&` and `?` a meaning. */
function quoted(check: string): string {
  return /[?&]/.test(check) ? `'${check}'` : check;
}
