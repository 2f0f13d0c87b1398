import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { EvaluationContext } from "../../health-policy.ts";

/**
 * At most so many addresses of one list are probed at a time that are no proved node's: a list may have any number. If
 * it has more, they take turns.
 */
const addressesPerListMax = 16;
/** At most so many in all: members that such a list adds have lists, too. */
const listedMax = 64;
const turnMs = 30_000;
/** How long an address is probed after the last list with it, in ms: lists may alternate between two addresses. */
export const contactKeptMs = 60_000;

/** Addresses that no proved node has. */
export interface ProbedAddresses {
  /** Those of the configuration. */
  readonly configured: ReadonlySet<string>;
  /** The others: lists and unproved nodes have them. */
  readonly listed: ReadonlySet<string>;
}

/**
 * Returns the addresses to probe that no proved node has (rule 10): the configured ones, those that lists of configured
 * addresses and of proved nodes give, those of unproved nodes, and those that such a list gave recently.
 */
export function probedAddresses(cluster: ClusterState, { policy, nowMs }: EvaluationContext): ProbedAddresses {
  const own = provedAddresses(cluster.nodes);
  const inTurn = (apis: Iterable<string>): readonly string[] =>
    takeTurn(
      [...new Set(apis)].filter((api) => !own.has(api)),
      nowMs,
    );
  const listed = new Set(inTurn(cluster.nodes.flatMap(({ node }) => node.api ?? [])));
  const configured = new Set(policy.configured.filter((api) => !own.has(api)));
  const lists = [...[...configured].map((api) => cluster.contacts.get(api)?.view), ...cluster.leaderViews.values()];
  for (const list of lists)
    for (const api of inTurn([...(list?.members.values() ?? [])].map((member) => member.api)))
      if (listed.size < listedMax) listed.add(api);
  for (const api of configured) listed.delete(api);
  return { configured, listed };
}

/** The addresses that are nodes' own (rule 10). */
export function provedAddresses(nodes: readonly Observation[]): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ node, proof }) => (proof === "none" ? [] : (node.api ?? []))));
}

function takeTurn(addresses: readonly string[], nowMs: number): readonly string[] {
  const turns = Math.max(1, Math.ceil(addresses.length / addressesPerListMax));
  const first = (Math.floor(nowMs / turnMs) % turns) * addressesPerListMax;
  return addresses.slice(first, first + addressesPerListMax);
}
