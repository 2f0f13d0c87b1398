import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Sender } from "../../cluster/documents/report.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isFresh } from "./freshness.ts";
import { hasPosition } from "./position.ts";
import type { ClusterView } from "./cluster-view.ts";

/** The leader's report, where a fresh one with positions exists: without it no time counts against anybody (design.md, rule 5). */
export function freshLeader(view: ClusterView): Observation | null {
  const { holder } = view.lock;
  const leader = nodeNamed(view.cluster, holder);
  if (leader === undefined || leader.report === null || !isFresh(leader, view.maxAgeMs, view.nowMs)) return null;
  return hasPosition(leader.report) ? leader : null;
}

const following: ReadonlySet<string> = new Set(["streaming", "catchup"]);
const streaming: ReadonlySet<string> = new Set(["streaming"]);

/** Whether a chain of fresh sender lists leads from the leader to the node: replicas may feed replicas. */
export function isInSenderChain(view: ClusterView, name: string): boolean {
  return isReached(view, name, following);
}

/** The same where each list of the chain says streaming: whoever streams is on its sender's timeline. */
export function isListedStreaming(view: ClusterView, name: string): boolean {
  return isReached(view, name, streaming);
}

function isReached(view: ClusterView, name: string, states: ReadonlySet<string>): boolean {
  const { holder } = view.lock;
  if (holder === null) return false;
  const reached = new Set([holder]);
  const open = [holder];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    const feeder = nodeNamed(view.cluster, from);
    if (feeder === undefined || feeder.report === null || !isFresh(feeder, view.maxAgeMs, view.nowMs)) continue;
    for (const sender of feeder.report.senders) {
      const fed = nodeFedBy(view.cluster, sender);
      if (fed === null || !states.has(sender.state ?? "") || reached.has(fed)) continue;
      if (fed === name) return true;
      reached.add(fed);
      open.push(fed);
    }
  }
  return false;
}

/** The known node that a row of a sender list is: by name, unless it comes from another known node's address. */
function nodeFedBy(cluster: ClusterState, { name, address }: Sender): string | null {
  const fed = cluster.nodes.find(({ node }) => node.member === name || node.name === name)?.node;
  if (fed === undefined) return null;
  const isElsewhere = address !== null && fed.database !== null && fed.database.host !== address;
  return isElsewhere && cluster.nodes.some(({ node }) => node !== fed && node.database?.host === address)
    ? null
    : fed.name;
}
