import { parseHostPort } from "../../core/config/values/address.ts";

/** A node that is fit for the followed check, and the address of its database. */
export interface FitNode {
  readonly node: string;
  readonly host: string;
  readonly port: number;
}

/** The verdict on one node, with the address of its database as `host:port`; `null` if that is not known. */
export interface WatchedNode {
  readonly node: string;
  readonly fit: boolean;
  readonly reason: string | null;
  /** Whether anything is known for or against it now. */
  readonly isKnown: boolean;
  readonly database: string | null;
}

/** The fit nodes, by name; or why the last ones stay. */
export type FitNodesChange = { readonly nodes: readonly FitNode[] } | { readonly unchanged: string };

/** The reasons of a node about which a rolecall knows nothing that does not say so itself. */
const withoutEvidence: ReadonlySet<string> = new Set(["blind", "unknown"]);

/**
 * Returns the nodes that are fit now. Without evidence nothing changes: a node that was fit and of which nothing is
 * known now stays, and so do the last nodes if none is fit. Pure.
 * @param before the last fit nodes
 * @param isSole whether the route is one that at most one node passes
 */
export function fitNodesAfter(
  before: readonly FitNode[],
  judged: readonly WatchedNode[],
  isSole: boolean,
): FitNodesChange {
  const fit: FitNode[] = [];
  for (const { node, fit: isFit, reason, isKnown, database } of judged) {
    const known = before.find((candidate) => candidate.node === node);
    if (isFit) {
      const address = database === null ? undefined : parseHostPort(database);
      if (address === undefined) return { unchanged: `the address of the database of ${node} is not known` };
      if (!isPlain(node)) return { unchanged: "the name of a fit node has blanks or control characters" };
      fit.push({ node, ...address });
    } else if (!isSole && known !== undefined && (!isKnown || withoutEvidence.has(reason ?? ""))) fit.push(known);
  }
  if (fit.length === 0) return { unchanged: "no node is known to be fit" };
  if (isSole && fit.length > 1)
    return { unchanged: `${fit.length} nodes are fit: ${fit.map(({ node }) => node).join(", ")}` };
  return { nodes: fit.toSorted((one, other) => (one.node < other.node ? -1 : 1)) };
}

/** Whether two lists name the same nodes at the same addresses. */
export function areSameNodes(one: readonly FitNode[], other: readonly FitNode[]): boolean {
  return nodeLines(one) === nodeLines(other);
}

/** One line for each node: its name, host and port. */
export function nodeLines(nodes: readonly FitNode[]): string {
  return nodes.map(({ node, host, port }) => `${node} ${host} ${port}`).join("\n");
}

/** Whether a script can read a value as one word of a line. */
function isPlain(text: string): boolean {
  return /^[^\s\p{C}]+$/u.test(text);
}
