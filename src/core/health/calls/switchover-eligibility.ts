import { nodeNamed } from "../../cluster/lookup.ts";
import { formatByteSize } from "../../cluster/values/byte-size.ts";
import { isObject, parseJson } from "../../cluster/values/json.ts";
import type { Observation } from "../../cluster/observation.ts";
import { isNoFailover } from "../../cluster/values/tags.ts";
import { isFresh } from "../evidence/node/freshness.ts";
import { lagBytes } from "../evidence/position/measure.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { Refusal } from "./refusal.ts";

/** A requested change of the leader. */
export interface RoleChange {
  readonly action: "switchover" | "failover";
  readonly leader: string | null;
  readonly candidate: string | null;
}

/**
 * Returns why the requested change of leader is impossible by the current evidence, or `null`. It uses the
 * conditions under which Patroni lets a node take part in a leader race. Refusals are 412, as those of nodes. If
 * evidence is missing or stale, the node decides.
 */
export function checkEligibility(view: ClusterView, { action, leader, candidate }: RoleChange): Refusal | null {
  const holder = nodeNamed(view.cluster, view.lock.holder);
  if (leader !== null && holder !== undefined && !isNamed(holder, leader)) {
    return refused("leader_mismatch", `leader name does not match: the leader is ${holder.node.member}`);
  }
  if (candidate !== null) return obstacleOf(view, candidate, action);
  const others = view.cluster.nodes.filter((node) => node !== holder);
  if (holder === undefined || !view.cluster.isMembershipKnown) return null;
  if (others.length === 0)
    return refused("no_candidate", `${action} is not possible: cluster does not have members except leader`);
  const reasons = others.map((node) => obstacleOf(view, node.node.member, action));
  if (reasons.some((reason) => reason === null)) return null;
  const messages = reasons.slice(0, 5).map((reason) => reason?.message ?? "");
  return refused(
    "no_candidate",
    `${action} is not possible: no good candidates have been found (${messages.join("; ")})`,
  );
}

function obstacleOf(view: ClusterView, name: string, action: RoleChange["action"]): Refusal | null {
  const { cluster } = view;
  const found = cluster.nodes.find((node) => isNamed(node, name));
  if (found === undefined)
    return cluster.isMembershipKnown
      ? refused("unknown_candidate", `candidate does not exist: ${JSON.stringify(name.slice(0, 128))}`)
      : null;
  if (found.isDown) return refused("candidate_down", `candidate ${name} does not answer`);
  const { report } = found;
  if (report === null || !isFresh(found, view.maxAgeMs, view.nowMs)) return null;
  if (isNoFailover(report.tags)) return refused("nofailover", `candidate ${name} is tagged nofailover`);
  return action === "failover" ? null : switchoverObstacleOf(view, found);
}

/** What a switchover alone requires: a limited lag and, in synchronous mode, a synchronous standby. */
function switchoverObstacleOf(view: ClusterView, candidate: Observation): Refusal | null {
  const { name } = candidate.node;
  const lag = lagBytes(view, candidate, "received");
  const lagMax = view.cluster.config?.lagMaxOnFailover;
  if (lag !== null && lagMax !== undefined && lag > lagMax) {
    return refused(
      "candidate_lagging",
      `candidate ${name} is lagging: ${formatByteSize(lag)} behind, ${formatByteSize(lagMax)} are allowed`,
    );
  }
  return needsSyncStandby(view) && candidate.report?.isSyncStandby === false
    ? refused("not_sync", `candidate name does not match with sync_standby: ${name} is no synchronous standby`)
    : null;
}

/**
 * Whether the candidate must be a synchronous standby. Not in quorum mode: every member of the quorum may take over,
 * and only the nodes know the quorum, so the node decides.
 */
function needsSyncStandby({ cluster }: ClusterView): boolean {
  const config =
    cluster.documents.config?.status === 200
      ? parseJson(cluster.documents.config.strict ?? cluster.documents.config.body)
      : undefined;
  const mode = isObject(config) ? config["synchronous_mode"] : undefined;
  return (
    mode === true || mode === 1 || (typeof mode === "string" && ["on", "true", "yes", "1"].includes(mode.toLowerCase()))
  );
}

function isNamed({ node }: Observation, name: string): boolean {
  return node.member === name || node.name === name;
}

function refused(error: string, message: string): Refusal {
  return { status: 412, error, message };
}
