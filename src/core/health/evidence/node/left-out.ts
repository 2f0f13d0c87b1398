import type { LeftOut } from "../../../cluster/documents/cluster-document.ts";
import { nodeOfMember } from "../../../cluster/lookup.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import { nodesMax } from "./listed-members.ts";

/**
 * Returns what the newest member lists have and rolecall does not take from them (rule 10), each once. A member that
 * has an address all the same is not left out: another list, the configuration, or an address of `discover` that
 * answers under its name gives it one. Empty until every configured address was asked, and for a cluster whose nodes
 * are all configured.
 */
export function leftOutOf(cluster: ClusterState, { discovers }: Pick<HealthPolicy, "discovers">): readonly LeftOut[] {
  if (!discovers || !cluster.hasAskedAll) return [];
  const found = new Map<string, LeftOut>();
  const isFull = cluster.nodes.length >= nodesMax;
  const views = [...cluster.leaderViews.values(), ...[...cluster.contacts.values()].flatMap(({ view }) => view ?? [])];
  for (const { leftOut, members } of views) {
    const past = isFull ? [...members.keys()].find((member) => nodeOfMember(cluster, member) === undefined) : undefined;
    const pastLimit = past === undefined ? [] : [{ member: past, cause: "past_limit" } as const];
    for (const each of [...leftOut.filter(({ cause }) => cause !== "past_limit" || past === undefined), ...pastLimit]) {
      const hasAddress = (nodeOfMember(cluster, each.member)?.node.api ?? null) !== null;
      if (each.cause === "repeated_name" || !hasAddress) found.set(leftOutKey(each), each);
    }
  }
  return [...found.values()];
}

/** Equal for the same member that is left out for the same cause. */
export function leftOutKey({ member, cause }: LeftOut): string {
  return `${cause} ${member}`;
}

/** Why a member is left out, for people. */
export function leftOutText({ member, cause }: LeftOut): string {
  switch (cause) {
    case "no_address":
      return `member ${member} is listed without a usable api_url`;
    case "shared_address":
      return `member ${member} is listed with the api_url of another member`;
    case "unusable_name":
      return `a member is listed under a name that cannot be used: ${member}`;
    case "repeated_name":
      return `member ${member} is listed more than once: the first row with an api_url counts`;
    case "past_limit":
      return `member ${member} is past the ${nodesMax} members of a cluster that are known: others come before it`;
  }
}
