import type { Node } from "../../../cluster/node.ts";
import type { Sender } from "../../../cluster/documents/report.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isStoredAs } from "./stored-name.ts";

type Nodes = Pick<ClusterState, "nodes">;

/** Whether a row of a sender list has the node's name. */
export function isNamedBy({ name, member }: Pick<Node, "name" | "member">, row: string): boolean {
  return isStoredAs(member, row) || (name !== member && isStoredAs(name, row));
}

/** The node whose database alone has the address of a row, if the row has no node's name; else `undefined`. */
export function nodeAtAddress({ nodes }: Nodes, { name, address }: Pick<Sender, "name" | "address">): Node | undefined {
  const at = nodes.filter(({ node }) => node.database?.host === address);
  const [only] = at;
  if (only === undefined || at.length > 1) return undefined;
  return nodes.some(({ node }) => isNamedBy(node, name)) ? undefined : only.node;
}

/**
 * Finds the node of a sender list's row: by name, unless the row has another known node's address. Where nobody sets
 * the names, because a node is known by its exporter alone, by an address that is its alone.
 */
export function nodeOfSender(cluster: Nodes, sender: Sender): Node | null {
  const { name, address } = sender;
  const named = cluster.nodes.find(({ node }) => isNamedBy(node, name))?.node;
  if (named === undefined) {
    const at = nodeAtAddress(cluster, sender);
    return at === undefined || at.api !== null ? null : at;
  }
  const isElsewhere = named.database !== null && named.database.host !== address;
  return isElsewhere && cluster.nodes.some(({ node }) => node.database?.host === address) ? null : named;
}

/** More standbys than any server has. */
const sendersMax = 256;

/**
 * The rows that are kept of a sender list: all, unless it is longer than any server's. Then those of members come first,
 * in the order of the list: programs that receive WAL under any names must not push them out.
 */
export function keptSenders<Row extends Pick<Sender, "name" | "address">>(
  cluster: Nodes,
  rows: readonly Row[],
): readonly Row[] {
  if (rows.length <= sendersMax) return rows;
  const isMembers = (row: Row): boolean =>
    cluster.nodes.some(({ node }) => isNamedBy(node, row.name)) || nodeAtAddress(cluster, row) !== undefined;
  const kept = new Set(rows.filter(isMembers).slice(0, sendersMax));
  for (const row of rows) if (kept.size < sendersMax) kept.add(row);
  return rows.filter((row) => kept.has(row));
}
