import type { Member } from "../../cluster/documents/cluster-document.ts";
import type { Observation } from "../../cluster/observation.ts";
import { isVotedTo, type AddressVotes } from "../evidence/address-votes.ts";
import { isLost, isOwnDocument, type Authority } from "../evidence/member-authority.ts";

/** What a member list says of one node. */
export type Row = Member;

/** What a member list changes of known nodes' addresses. */
export interface Assigned {
  /** Index of a node -> the address that it has from now on. */
  readonly addresses: ReadonlyMap<number, string>;
  /** Indices of nodes that leave, for a known member has their address now. */
  readonly replaced: ReadonlySet<number>;
}

/** By what a list may change addresses. */
export interface Grounds {
  readonly authority: Authority;
  readonly votes: AddressVotes;
}

/**
 * Decides which known nodes take another address (design.md, rule 10). Nodes may change places in one list; a node that wants the
 * address of one that stays gets nothing.
 * @param rows by the index of their node
 */
export function assignAddresses(
  nodes: readonly Observation[],
  rows: ReadonlyMap<number, Row>,
  grounds: Grounds,
): Assigned {
  const { authority } = grounds;
  const owners = new Map<string, number>();
  for (const [at, { node }] of nodes.entries()) if (node.api !== null) owners.set(node.api, at);
  const addresses = wanted(nodes, rows, grounds);
  const replaced = new Set<number>();
  // Each refusal leaves a node where it is, which may refuse another one.
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    replaced.clear();
    for (const [at, api] of addresses) {
      const owner = owners.get(api);
      const held = owner === undefined || addresses.has(owner) ? undefined : nodes[owner];
      if (owner === undefined || held === undefined) continue;
      if (!rows.has(owner) && mayLeave(held, authority)) replaced.add(owner);
      else {
        addresses.delete(at);
        isSettled = false;
      }
    }
  }
  return { addresses, replaced };
}

/** Whether a node that a list omits may be replaced by a member that the list has at its address. */
export function mayLeave(known: Observation, authority: Authority): boolean {
  if (known.node.isFixed) return false;
  // A node that states no name may be another one at the same address: its own document shows that.
  if (isOwnDocument(known.node, authority)) return known.report?.name === null;
  return authority.isOfHolder && isLost(known, authority.fall);
}

/** The moves that the lists allow. Of two that want one address the first by name has it. */
function wanted(nodes: readonly Observation[], rows: ReadonlyMap<number, Row>, grounds: Grounds): Map<number, string> {
  const taken = new Set<string>();
  const moves = new Map<number, string>();
  const moving = [...rows].filter(([at, row]) => {
    const known = nodes[at];
    return known !== undefined && row.api !== known.node.api && mayMove(known, row, grounds);
  });
  for (const [at, { api }] of moving.toSorted(([, one], [, other]) => (one.name < other.name ? -1 : 1))) {
    if (!taken.has(api)) moves.set(at, api);
    taken.add(api);
  }
  return moves;
}

function mayMove(known: Observation, { api }: Row, { authority, votes }: Grounds): boolean {
  const { node } = known;
  // The address of a fixed node is the configuration's; one that has its exporter alone takes what it is listed with.
  if (node.isFixed) return node.api === null && authority.isOfHolder;
  return isVotedTo(votes, known, api);
}
