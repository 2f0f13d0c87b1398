import { isDistrusted } from "../node/active-drain.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Sender } from "../../../cluster/documents/report.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isFresh } from "../node/freshness.ts";
import { hasPosition } from "../node/report-position.ts";
import type { ClusterView } from "./cluster-view.ts";

/**
 * Returns the leader if its report has positions; a lock holder's report is fresh. Without one no time counts against a
 * node (rule 5).
 */
export function freshLeader(view: ClusterView): Observation | null {
  const { holder } = view.lock;
  const leader = nodeNamed(view.cluster, holder);
  return leader !== undefined && leader.report !== null && hasPosition(leader.report) ? leader : null;
}

const following: ReadonlySet<string> = new Set(["streaming", "catchup"]);
const streaming: ReadonlySet<string> = new Set(["streaming"]);

/**
 * Whether a chain of fresh sender lists leads from the leader to the node, or may: a list with a row that cannot be read
 * omits nobody. Replicas may cascade.
 */
export function isInSenderChain(view: ClusterView, name: string): boolean {
  return isReached(view, name, following);
}

/** The same with every sender of the chain in state streaming: a streaming node is on its sender's timeline. */
export function isListedStreaming(view: ClusterView, name: string): boolean {
  return isReached(view, name, streaming);
}

function isReached(view: ClusterView, name: string, states: ReadonlySet<string>): boolean {
  const { holder } = view.lock;
  const reached = new Set([holder]);
  const open = [holder];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    const upstream = nodeNamed(view.cluster, from);
    if (upstream === undefined || upstream.report === null || !isFresh(upstream, view.maxAgeMs, view.nowMs)) continue;
    if (from !== holder && (mayHaveBeenRewound(upstream) || isDistrusted(view.cluster, upstream.node.name, view.nowMs)))
      continue;
    // The row that cannot be read may be the node's: nobody is missing in this list.
    if (states === following && upstream.report.unreadable.includes("senders") && upstream.node.name !== name)
      return true;
    for (const sender of upstream.report.senders) {
      const downstream = nodeOfSender(view.cluster, sender);
      if (downstream === null || !states.has(sender.state ?? "") || reached.has(downstream)) continue;
      if (downstream === name) return true;
      reached.add(downstream);
      open.push(downstream);
    }
  }
  return false;
}

/**
 * Whether a node listed its receivers before it was attached to the leader: as another primary, or on a lower timeline.
 * By now it may have been rewound, and be listed itself.
 */
function mayHaveBeenRewound({ report, attachment }: Observation): boolean {
  return report?.role === "primary" || attachment.isOffTimeline;
}

/**
 * Who sends WAL to whom, by the fresh sender lists of all nodes: receiver -> sender. Of several senders that list a
 * node the last one counts.
 */
export function upstreamsOf(view: ClusterView): ReadonlyMap<string, string> {
  const upstreams = new Map<string, string>();
  for (const sender of view.cluster.nodes) {
    if (sender.report === null || !isFresh(sender, view.maxAgeMs, view.nowMs)) continue;
    for (const row of sender.report.senders) {
      const receiver = nodeOfSender(view.cluster, row);
      if (receiver === null || receiver === sender.node.name || !following.has(row.state ?? "")) continue;
      upstreams.set(receiver, sender.node.name);
    }
  }
  return upstreams;
}

/** Finds the node of a sender list's row: by name, unless the row has another known node's address. */
function nodeOfSender(cluster: ClusterState, { name, address }: Sender): string | null {
  const named = cluster.nodes.find(({ node }) => node.member === name || node.name === name)?.node;
  if (named === undefined) return null;
  const isElsewhere = named.database !== null && named.database.host !== address;
  return isElsewhere && cluster.nodes.some(({ node }) => node.database?.host === address) ? null : named.name;
}
