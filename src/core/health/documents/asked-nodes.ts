import { askPauseMs, isRegular, type AskedNode } from "../../cluster/asked-node.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { mayLackMembers, type ListedMembers } from "../evidence/node/listed-members.ts";
import { isNoFailover } from "../../cluster/values/tags.ts";

/**
 * How long balancers have to ask for a member, in ms: after it has joined, and after they asked for it last. The other
 * members must have been asked for as long.
 */
export const unaskedAfterMs = 5 * 60_000;

/** Fields of a node in `GET /status`. */
export interface AskedFields {
  /** How long ago a check asked for this node, in ms; `null` if none did within the last hour. */
  readonly asked_ms_ago: number | null;
  /** Whether balancers ask this rolecall for other members regularly, and not for this one: it is missing there. */
  readonly unasked: boolean;
}

/** A name that is no member, and that checks still ask for. */
export interface AskedNonMember {
  readonly node: string;
  readonly asked_ms_ago: number;
}

/** For which nodes of one cluster balancers ask. */
export interface AskedOverview {
  readonly nodes: ReadonlyMap<string, AskedFields>;
  /** The last asked for first. */
  readonly nonMembers: readonly AskedNonMember[];
}

/**
 * Compares the members of a cluster with the names that checks ask for. Checks of the whole cluster say nothing about
 * a node: while they come, no member counts as unasked.
 * @param asked of all processes; rows of other clusters are ignored
 * @param memberForMs how long each member is known, in ms
 */
export function askedOverview(
  cluster: Pick<ClusterState, "name"> & ListedMembers,
  asked: readonly AskedNode[],
  memberForMs: ReadonlyMap<string, number>,
): AskedOverview {
  const { name, nodes } = cluster;
  const { wholeAgoMs, names } = merged(name, asked);
  const rowOf = rowsByMember(nodes, names);
  const isOneRegular = [...rowOf.values()].some((row) => isRegular(row, unaskedAfterMs));
  const isConclusive = wholeAgoMs >= unaskedAfterMs && isOneRegular;
  const fields = nodes.map((observation): [string, AskedFields] => {
    const { name: node } = observation.node;
    const agoMs = rowOf.get(node)?.agoMs ?? null;
    const isOverdue =
      (agoMs ?? Infinity) >= unaskedAfterMs &&
      (memberForMs.get(node) ?? 0) >= unaskedAfterMs &&
      !isKeptOut(observation);
    return [node, { asked_ms_ago: agoMs, unasked: isConclusive && isOverdue }];
  });
  const members = new Set([...rowOf.values()].map(({ node }) => node));
  const nonMembers = mayLackMembers(cluster)
    ? []
    : [...names.values()].filter((row) => !members.has(row.node) && isRegular(row, askPauseMs));
  return {
    nodes: new Map(fields),
    nonMembers: nonMembers
      .toSorted((one, other) => one.agoMs - other.agoMs)
      .map(({ node, agoMs }) => ({ node, asked_ms_ago: agoMs })),
  };
}

interface NamedRow extends AskedNode {
  readonly node: string;
}

/** Adds up the rows of all processes: each of them answers a part of the checks. */
function merged(
  cluster: string,
  asked: readonly AskedNode[],
): { readonly wholeAgoMs: number; readonly names: ReadonlyMap<string, NamedRow> } {
  const names = new Map<string, NamedRow>();
  let wholeAgoMs = Infinity;
  for (const row of asked) {
    if (row.cluster !== cluster) continue;
    const { node } = row;
    if (node === null) {
      wholeAgoMs = Math.min(wholeAgoMs, row.agoMs);
      continue;
    }
    const other = names.get(node);
    const { agoMs, forMs } = other ?? row;
    names.set(node, { cluster, node, agoMs: Math.min(row.agoMs, agoMs), forMs: Math.max(row.forMs, forMs) });
  }
  return { wholeAgoMs, names };
}

/** The row of each member that was asked for. Host names nodes in any case, so a name may differ in case alone. */
function rowsByMember(
  nodes: ClusterState["nodes"],
  names: ReadonlyMap<string, NamedRow>,
): ReadonlyMap<string, NamedRow> {
  const exact = new Set(nodes.map(({ node }) => node.name));
  const lower = new Map(
    [...names.values()].filter(({ node }) => !exact.has(node)).map((row) => [row.node.toLowerCase(), row]),
  );
  return new Map(
    nodes.flatMap(({ node }) => {
      const row = names.get(node.name) ?? lower.get(node.name.toLowerCase());
      return row === undefined ? [] : [[node.name, row] as const];
    }),
  );
}

/** A node that takes neither reads nor, after a failover, writes: balancers may well leave it out. */
function isKeptOut({ report }: Observation): boolean {
  return report !== null && report.isNoLoadBalance && isNoFailover(report.tags);
}
