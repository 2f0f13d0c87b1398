import { isDistrusted } from "../node/active-drain.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isFresh } from "../node/freshness.ts";
import { nodeOfSender } from "../node/sender-rows.ts";
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
      const downstream = nodeOfSender(view.cluster, sender)?.name ?? null;
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
      const receiver = nodeOfSender(view.cluster, row)?.name ?? null;
      if (receiver === null || receiver === sender.node.name || !following.has(row.state ?? "")) continue;
      upstreams.set(receiver, sender.node.name);
    }
  }
  return upstreams;
}

/**
 * Whether the absence of a node from the sender lists says nothing (rule 5). The node is known by its exporter alone, so
 * nobody sees to it that its `application_name` is its name; no list has ever named it; it states no position itself; and
 * a list has a streaming row that is no node's, which may be its.
 */
export function isUnknownToLists(view: ClusterView, { node, isNamed, exporter }: Observation): boolean {
  if (node.api !== null || isNamed) return false;
  const page = exporter?.page ?? null;
  if (page !== null && (page.received !== null || page.replayed !== null)) return false;
  return view.cluster.nodes.some(
    (sender) =>
      sender.report !== null &&
      isFresh(sender, view.maxAgeMs, view.nowMs) &&
      sender.report.senders.some((row) => row.state === "streaming" && nodeOfSender(view.cluster, row) === null),
  );
}

/** Notes which nodes without an API a sender list names: their absence from later ones counts. */
export function withNamed(nodes: ClusterState["nodes"], lister: Observation): ClusterState["nodes"] {
  if (nodes.every(({ node, isNamed }) => isNamed || node.api !== null)) return nodes;
  const rows = lister.report?.senders ?? [];
  const named = new Set(rows.map((row) => nodeOfSender({ nodes }, row)?.name));
  const isNew = ({ node, isNamed }: Observation): boolean => node.api === null && !isNamed && named.has(node.name);
  return nodes.some(isNew) ? nodes.map((known) => (isNew(known) ? { ...known, isNamed: true } : known)) : nodes;
}
