import { oneOf } from "../../cluster/values/one-of.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import { callRules, type ManagementCall } from "../../cluster/management-call.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isFresh } from "../evidence/node/freshness.ts";
import type { Refusal } from "./refusal.ts";

/**
 * Selects the node that receives a call: the leader, or any live node if there is no leader; or the node that the
 * request names. Any node can accept a call for the leader: it writes it to the DCS, where the leader reads it
 * (docs/management.md).
 */
export function selectTarget(view: ClusterView, call: ManagementCall): Observation | Refusal {
  return callRules.get(call.name)?.to === "any"
    ? leaderOrAny(view, call)
    : namedNode(view, call.node, `${call.method} /${call.name}`);
}

/** Finds a node by name, ignoring case: a Host header may have named it. Refuses a request that names no node. */
export function namedNode({ cluster }: ClusterView, name: string | null, what: string): Observation | Refusal {
  if (name === null) {
    return {
      status: 400,
      error: "bad_request",
      message: `Cannot forward ${what}: the request must name a node: by path /nodes/{node}/…, by header X-Rolecall-Node, by Host, or by a listener for one node`,
    };
  }
  const found =
    nodeNamed(cluster, name) ?? cluster.nodes.find(({ node }) => node.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const known = cluster.nodes.slice(0, 20).map(({ node }) => node.name);
  return {
    status: 400,
    error: "bad_request",
    message: `Cannot find node ${JSON.stringify(name)}: it must be ${oneOf(known, "node")}`,
  };
}

function leaderOrAny(view: ClusterView, call: ManagementCall): Observation | Refusal {
  const { cluster } = view;
  const leader = nodeNamed(cluster, view.lock.holder);
  const live =
    leader ??
    cluster.nodes.find(
      (node) =>
        node.node.api !== null && !node.isDown && node.report !== null && isFresh(node, view.maxAgeMs, view.nowMs),
    );
  return (
    live ?? {
      status: 503,
      error: "no_node",
      message: `Cannot forward ${call.method} /${call.name}: no node of cluster ${cluster.name} answers`,
    }
  );
}
