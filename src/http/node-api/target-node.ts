import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { ParseError } from "../../health/check.ts";
import type { Request } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";

/** What a listener speaks for, and what it knows of names. */
export interface ListenerScope {
  readonly cluster: string | null;
  readonly node: string | null;
  readonly wholeCluster: boolean;
  /** The names of all clusters. */
  readonly clusters: readonly string[];
  readonly hostSuffixes: readonly string[];
}

/** The cluster and node that are meant; no node means the whole cluster. */
export interface TargetNode {
  readonly cluster: string;
  readonly node: string | null;
  /** The name came by Host, whose case means nothing (RFC 9110, 4.2.3). */
  readonly isAnyCase: boolean;
  /** What Host names where path or header name another node: it counts only if there is such a node (`hostConflict`). */
  readonly otherByHost: HostNode | null;
}

/** A node that Host names, and what to answer if there is one. */
export interface HostNode {
  readonly cluster: string;
  readonly node: string;
  readonly problem: ParseError;
}

const hostHeader = "header Host";

/** What one part of a request says of the cluster and the node. */
interface NodeSelector {
  readonly by: string;
  readonly cluster: string | null;
  readonly node: string | null;
}

/**
 * Finds the node that is meant: path, header, Host and listener count in this order, and where two disagree nothing is
 * guessed (design.md, "Addressing a node"). A Host that names no node says nothing where path or header name one: a balancer
 * may send any Host. Whether its name is a node's depends on the members, so that is left to `hostConflict`.
 */
export function resolveTargetNode(
  target: RequestTarget,
  request: Request,
  scope: ListenerScope,
): TargetNode | { readonly problem: ParseError } {
  const explicit = [{ by: "path", ...target }, byHeader(request.nodeHeader)].filter((saying) => saying !== null);
  const isNodeNamed = explicit.some(({ node }) => node !== null);
  const host = byHost(request.host, scope);
  if (host !== null && "problem" in host && !isNodeNamed) return host;
  const known = host === null || "problem" in host ? null : host;
  const problem = known !== null && isNodeNamed ? (conflictOf([...explicit, known]) ?? null) : null;
  const byListener = { by: "listener", ...scope };
  const sayings = known === null || problem !== null ? [...explicit, byListener] : [...explicit, known, byListener];
  const conflict = conflictOf(sayings);
  if (conflict !== null) return { problem: conflict };
  const [named] = sayings.filter(({ cluster }) => cluster !== null);
  const cluster = named?.cluster ?? (scope.clusters.length === 1 ? scope.clusters[0] : null) ?? null;
  if (cluster === null)
    return { problem: { subject: "cluster", value: "none named", allowed: `one of ${scope.clusters.join(", ")}` } };
  if (!scope.clusters.includes(cluster))
    return { problem: { subject: "cluster", value: cluster, allowed: `one of ${scope.clusters.join(", ")}` } };
  const [meant] = sayings.filter(({ node }) => node !== null);
  if (meant === undefined && target.cluster === null && !scope.wholeCluster) {
    return {
      problem: {
        subject: "node",
        value: "none named",
        allowed: "a node by path /nodes/{node}/{route}, by header X-Rolecall-Node or by Host",
      },
    };
  }
  const otherByHost = known === null || problem === null ? null : { cluster: known.cluster, node: known.node, problem };
  return { cluster, node: meant?.node ?? null, isAnyCase: meant?.by === hostHeader, otherByHost };
}

/**
 * Whether Host names another node than path or header do, among the nodes known now.
 * @returns what to answer, or `null`
 */
export function hostConflict(other: HostNode | null, snapshot: Snapshot): ParseError | null {
  if (other === null) return null;
  const name = other.node.toLowerCase();
  const isNode = clusterNamed(snapshot, other.cluster)?.nodes.some(({ node }) => node.name.toLowerCase() === name);
  return isNode === true ? other.problem : null;
}

function conflictOf(sayings: readonly NodeSelector[]): ParseError | null {
  const clusters = sayings.filter(({ cluster }) => cluster !== null);
  const nodes = sayings.filter(({ node }) => node !== null);
  return disagreement(clusters, "cluster") ?? disagreement(nodes, "node");
}

function byHeader(header: string | undefined): NodeSelector | null {
  if (header === undefined || header === "") return null;
  const cut = header.lastIndexOf("/");
  return { by: "header X-Rolecall-Node", cluster: cut < 0 ? null : header.slice(0, cut), node: header.slice(cut + 1) };
}

/** `{node}.{cluster}{suffix}`, in lower case and without its port. A Host without a known suffix, or that is one, says nothing. */
function byHost(
  host: string | undefined,
  scope: ListenerScope,
): { readonly by: string; readonly cluster: string; readonly node: string } | { problem: ParseError } | null {
  if (host === undefined || scope.hostSuffixes.length === 0) return null;
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  if (scope.hostSuffixes.some((candidate) => name === candidate || `.${name}` === candidate)) return null;
  const suffix = scope.hostSuffixes.find((candidate) => name.endsWith(candidate));
  if (suffix === undefined) return null;
  const rest = name.slice(0, Math.max(0, name.length - suffix.length));
  const cluster = scope.clusters.find((candidate) => rest.endsWith(`.${candidate.toLowerCase()}`));
  const node = cluster === undefined ? "" : rest.slice(0, -cluster.length - 1);
  if (cluster === undefined || node === "") {
    return {
      problem: {
        subject: hostHeader,
        value: host,
        allowed: `{node}.{cluster}${suffix}, cluster being one of ${scope.clusters.join(", ")}`,
      },
    };
  }
  return { by: hostHeader, cluster, node };
}

function disagreement(sayings: readonly NodeSelector[], what: "cluster" | "node"): ParseError | null {
  const [first, ...others] = sayings;
  if (first === undefined) return null;
  const other = others.find((saying) => !isSame(first, saying, what));
  if (other === undefined) return null;
  return {
    subject: what,
    value: `${first.by} says ${first[what]}, ${other.by} says ${other[what]}`,
    allowed: "the same by all that name one",
  };
}

function isSame(one: NodeSelector, other: NodeSelector, what: "cluster" | "node"): boolean {
  const isAnyCase = one.by === hostHeader || other.by === hostHeader;
  return isAnyCase ? one[what]?.toLowerCase() === other[what]?.toLowerCase() : one[what] === other[what];
}
