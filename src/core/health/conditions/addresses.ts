/** The addresses of members (rule 10). */
import { nodeOfMember } from "../../cluster/lookup.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { countText, listText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Condition, oneCase, type Case, type Told } from "./condition.ts";
import { foundEnds } from "./event-kinds.ts";

/** Two hosts use the name of one member. A member that moves may answer at both for a moment. */
export const addressDisputed = {
  id: "address_disputed",
  title: "two hosts use the name of one member",
  harm: "doubtful",
  events: {
    begins: "address_disputed",
    ends: foundEnds.address_disputed,
    severities: ["warning"],
    holds: ({ cluster, view }: ClusterFacts): readonly Case[] =>
      [...view.cluster.addressDisputes].map(([member, addresses]) =>
        oneCase({
          severity: "warning",
          node: nodeOfMember(view.cluster, member)?.node.name ?? member,
          message: disputeText(member, addresses, ` of ${cluster}`),
          figures: { addresses: addresses.length },
          level: addresses.join(),
        }),
      ),
    endText: (cluster: string, node: string | null) => `the address of ${node} of ${cluster} is no longer disputed`,
    holdMs: 10_000,
    quietMs: 10_000,
    isEndKnown: () => true,
  },
  status: { condition: "warning", tell: tellDisputes },
  alerts: [],
} as const satisfies Condition;

/** @param of what follows the name of the member */
function disputeText(member: string, addresses: readonly string[], of: string): string {
  return addresses.length > 1
    ? `two hosts use the name ${member}${of}: ${listText(addresses)}`
    : `${listText(addresses)} answers as ${member}${of}, but other nodes list ${member} elsewhere`;
}

function tellDisputes({ cluster: { addressDisputes } }: ClusterView): Told | null {
  if (addressDisputes.size === 0) return null;
  return {
    wrong: `the address of ${countText(addressDisputes.size, "member")} is disputed`,
    cause: listText([...addressDisputes].map(([member, addresses]) => disputeText(member, addresses, ""))),
    sinceMs: null,
    next: "it ends when one host alone uses the name",
    action: "Give every node a name of its own, and a restapi.connect_address at which it is reached from here",
  };
}

/** A member is reached at a configured address alone. */
export const addressUnlisted = {
  id: "address_unlisted",
  title: "a member is reached at an address that no list has",
  harm: "doubtful",
  events: {
    begins: "address_unlisted",
    ends: foundEnds.address_unlisted,
    severities: ["warning"],
    holds: ({ cluster, nodes }: ClusterFacts): readonly Case[] =>
      nodes
        .filter(({ observation }) => observation.proof === "seed")
        .map(({ node, observation: { node: known } }) =>
          oneCase({
            severity: "warning",
            node,
            message: `${node} of ${cluster} answers at ${known.api} alone, which no list has`,
            level: known.api ?? "",
          }),
        ),
    endText: (cluster: string, node: string | null) =>
      `${node} of ${cluster} no longer answers at an unlisted address alone`,
    isEndKnown: () => true,
  },
  status: { condition: "warning", tell: tellUnlisted },
  alerts: [],
} as const satisfies Condition;

function tellUnlisted({ cluster }: ClusterView): Told | null {
  const found = cluster.nodes.filter(({ proof }) => proof === "seed");
  if (found.length === 0) return null;
  return {
    wrong: `${countText(found.length, "node")} at an unlisted address`,
    cause: listText(found.map(({ node }) => `${node.name} answers at ${node.api} alone, which no list has`)),
    sinceMs: null,
    next: "it is judged, and gets neither calls nor passwords there",
    action: "Set restapi.connect_address to an address that is reached from here, or put the node under nodes",
  };
}
