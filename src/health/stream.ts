import type { Observation } from "../cluster/observation.ts";
import type { Sender } from "../cluster/report.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { isFresh } from "./freshness.ts";
import { statesPosition } from "./position.ts";
import type { Sight } from "./sight.ts";

/** The leader's report, where a fresh one with positions exists: without it no time counts against anybody (design.md, rule 5). */
export function freshLeader(sight: Sight): Observation | null {
  const { holder } = sight.standing;
  const leader = holder === null ? undefined : sight.part.nodes[sight.part.index.get(holder) ?? -1];
  if (leader === undefined || leader.report === null || !isFresh(leader, sight.maxAgeMs, sight.nowMs)) return null;
  return statesPosition(leader.report) ? leader : null;
}

const following: ReadonlySet<string> = new Set(["streaming", "catchup"]);
const streaming: ReadonlySet<string> = new Set(["streaming"]);

/** Whether a chain of fresh sender lists leads from the leader to the node: replicas may feed replicas. */
export function isListed(sight: Sight, name: string): boolean {
  return isReached(sight, name, following);
}

/** The same where each list of the chain says streaming: whoever streams is on its sender's timeline. */
export function isListedStreaming(sight: Sight, name: string): boolean {
  return isReached(sight, name, streaming);
}

function isReached(sight: Sight, name: string, states: ReadonlySet<string>): boolean {
  const { holder } = sight.standing;
  if (holder === null) return false;
  const reached = new Set([holder]);
  const open = [holder];
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    const feeder = sight.part.nodes[sight.part.index.get(from) ?? -1];
    if (feeder === undefined || feeder.report === null || !isFresh(feeder, sight.maxAgeMs, sight.nowMs)) continue;
    for (const sender of feeder.report.senders) {
      const fed = nodeFedBy(sight.part, sender);
      if (fed === null || !states.has(sender.state ?? "") || reached.has(fed)) continue;
      if (fed === name) return true;
      reached.add(fed);
      open.push(fed);
    }
  }
  return false;
}

/** The known node that a row of a sender list is: by name, unless it comes from another known node's address. */
function nodeFedBy(part: ClusterPart, { name, address }: Sender): string | null {
  const fed = part.nodes.find(({ node }) => node.member === name || node.name === name)?.node;
  if (fed === undefined) return null;
  const isElsewhere = address !== null && fed.database !== null && fed.database.host !== address;
  return isElsewhere && part.nodes.some(({ node }) => node !== fed && node.database?.host === address) ? null : fed.name;
}
