import { oneOf } from "../../cluster/values/one-of.ts";
import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { ParseError } from "../../health/check.ts";
import type { Request } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";

/** The cluster and node that a listener is bound to, and the names that it knows. */
export interface ListenerScope {
  readonly cluster: string | null;
  readonly node: string | null;
  readonly wholeCluster: boolean;
  /** The names of all clusters. */
  readonly clusters: readonly string[];
  readonly hostSuffixes: readonly string[];
}

/** The cluster and node of a request. Without a node: the whole cluster. */
export interface TargetNode {
  readonly cluster: string;
  readonly node: string | null;
  /** Whether Host names the node: its case is ignored then (RFC 9110, 4.2.3). */
  readonly isAnyCase: boolean;
  /** Whether the listener is bound to a node, and answers as that node. */
  readonly isBound: boolean;
  /** The node that Host names while path or header name another one. A conflict only if it exists (`hostConflict`). */
  readonly otherByHost: HostNode | null;
}

/** A node that Host names, and the problem to report if it exists. */
export interface HostNode {
  readonly cluster: string;
  readonly node: string;
  readonly problem: ParseError;
}

const hostHeader = "header Host";

/** What one part of a request names. */
interface NodeSelector {
  readonly by: string;
  readonly cluster: string | null;
  readonly node: string | null;
}

/**
 * Resolves the cluster and node of a request from path, header, Host and listener, in this order. If two disagree, that
 * is a problem (docs/checks.md, "How a request selects a node"). A Host that names no node is ignored if path or header
 * name one: a balancer may send any Host. Whether a node of the name in Host exists depends on the members: see
 * `hostConflict`.
 */
export function resolveTargetNode(
  target: RequestTarget,
  request: Request,
  scope: ListenerScope,
): TargetNode | { readonly problem: ParseError } {
  const explicit = [{ by: "path", ...target }, byHeader(request.nodeHeader)].filter((selector) => selector !== null);
  const isNodeNamed = explicit.some(({ node }) => node !== null);
  const host = byHost(request.host, scope);
  if (host !== null && "problem" in host && !isNodeNamed) return host;
  const known = host === null || "problem" in host ? null : host;
  const problem = known !== null && isNodeNamed ? (conflictOf([...explicit, known]) ?? null) : null;
  const byListener = { by: "listener", ...scope };
  const selectors = known === null || problem !== null ? [...explicit, byListener] : [...explicit, known, byListener];
  const conflict = conflictOf(selectors);
  if (conflict !== null) return { problem: conflict };
  const [byCluster] = selectors.filter(({ cluster }) => cluster !== null);
  const cluster = byCluster?.cluster ?? (scope.clusters.length === 1 ? scope.clusters[0] : null) ?? null;
  if (cluster === null)
    return { problem: { subject: "cluster", value: "none named", allowed: oneOf(scope.clusters, "cluster") } };
  if (!scope.clusters.includes(cluster))
    return { problem: { subject: "cluster", value: cluster, allowed: oneOf(scope.clusters, "cluster") } };
  const [byNode] = selectors.filter(({ node }) => node !== null);
  if (byNode === undefined && target.cluster === null && !scope.wholeCluster) {
    return {
      problem: {
        subject: "node",
        value: "none named",
        allowed: "a node by path /nodes/{node}/{route}, by header X-Rolecall-Node or by Host",
      },
    };
  }
  const otherByHost = known === null || problem === null ? null : { cluster: known.cluster, node: known.node, problem };
  return {
    cluster,
    node: byNode?.node ?? null,
    isAnyCase: byNode?.by === hostHeader,
    isBound: scope.node !== null,
    otherByHost,
  };
}

/**
 * Returns the problem of a Host that names another node than path or header, if that node exists now.
 */
export function hostConflict(other: HostNode | null, snapshot: Snapshot): ParseError | null {
  if (other === null) return null;
  const name = other.node.toLowerCase();
  const isNode = clusterNamed(snapshot, other.cluster)?.nodes.some(({ node }) => node.name.toLowerCase() === name);
  return isNode === true ? other.problem : null;
}

function conflictOf(selectors: readonly NodeSelector[]): ParseError | null {
  const clusters = selectors.filter(({ cluster }) => cluster !== null);
  const nodes = selectors.filter(({ node }) => node !== null);
  return disagreement(clusters, "cluster") ?? disagreement(nodes, "node");
}

function byHeader(header: string | undefined): NodeSelector | null {
  if (header === undefined || header === "") return null;
  const slash = header.lastIndexOf("/");
  const cluster = slash < 0 ? null : header.slice(0, slash);
  return { by: "header X-Rolecall-Node", cluster, node: header.slice(slash + 1) };
}

/**
 * Parses `{node}.{cluster}{suffix}`, in lower case and without port. `null` if Host has no known suffix, or is a bare
 * one.
 */
function byHost(
  host: string | undefined,
  scope: ListenerScope,
): { readonly by: string; readonly cluster: string; readonly node: string } | { problem: ParseError } | null {
  if (host === undefined || scope.hostSuffixes.length === 0) return null;
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  if (scope.hostSuffixes.some((candidate) => name === candidate || `.${name}` === candidate)) return null;
  const suffix = longest(scope.hostSuffixes, (candidate) => name.endsWith(candidate));
  if (suffix === undefined) return null;
  const rest = name.slice(0, Math.max(0, name.length - suffix.length));
  const cluster = longest(scope.clusters, (candidate) => rest.endsWith(`.${candidate.toLowerCase()}`));
  const node = cluster === undefined ? "" : rest.slice(0, -cluster.length - 1);
  if (cluster === undefined || node === "") {
    return {
      problem: {
        subject: hostHeader,
        value: host,
        allowed: `{node}.{cluster}${suffix}, cluster being ${oneOf(scope.clusters, "cluster")}`,
      },
    };
  }
  return { by: hostHeader, cluster, node };
}

/** The longest name that matches: names may contain dots, so a shorter one can match too (`b` besides `a.b`). */
function longest(names: readonly string[], matches: (name: string) => boolean): string | undefined {
  let found: string | undefined;
  for (const name of names) if (name.length > (found?.length ?? -1) && matches(name)) found = name;
  return found;
}

function disagreement(selectors: readonly NodeSelector[], what: "cluster" | "node"): ParseError | null {
  const [first, ...others] = selectors;
  if (first === undefined) return null;
  const other = others.find((selector) => !isSame(first, selector, what));
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
