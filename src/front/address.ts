import type { Misunderstanding } from "../health/check.ts";
import type { Request } from "./request.ts";
import type { Target } from "./target.ts";

/** What a listener speaks for, and what it knows of names. */
export interface Bound {
  readonly cluster: string | null;
  readonly node: string | null;
  readonly wholeCluster: boolean;
  /** The names of all clusters. */
  readonly clusters: readonly string[];
  readonly hostSuffixes: readonly string[];
}

/** The cluster and node that are meant; no node means the whole cluster. */
export interface Address {
  readonly cluster: string;
  readonly node: string | null;
  /** The name came by Host, whose case means nothing (RFC 9110, 4.2.3). */
  readonly isAnyCase: boolean;
}

const hostHeader = "header Host";

/** What one part of a request says of the cluster and the node. */
interface Saying {
  readonly by: string;
  readonly cluster: string | null;
  readonly node: string | null;
}

/**
 * Finds the node that is meant: path, header, Host and listener count in this order, and where two disagree nothing is
 * guessed (design.md, "Which node is meant").
 */
export function resolveAddress(target: Target, request: Request, bound: Bound): Address | { readonly problem: Misunderstanding } {
  const host = byHost(request.host, bound);
  if (host !== null && "problem" in host) return host;
  const sayings = [{ by: "path", ...target }, byHeader(request.nodeHeader), host, { by: "listener", ...bound }].filter(
    (saying) => saying !== null,
  );
  const clusters = sayings.filter(({ cluster }) => cluster !== null);
  const nodes = sayings.filter(({ node }) => node !== null);
  const conflict = disagreement(clusters, "cluster") ?? disagreement(nodes, "node");
  if (conflict !== null) return { problem: conflict };
  const cluster = clusters[0]?.cluster ?? (bound.clusters.length === 1 ? bound.clusters[0] : null) ?? null;
  if (cluster === null) return { problem: { thing: "cluster", value: "none named", allowed: `one of ${bound.clusters.join(", ")}` } };
  if (!bound.clusters.includes(cluster))
    return { problem: { thing: "cluster", value: cluster, allowed: `one of ${bound.clusters.join(", ")}` } };
  const node = nodes[0]?.node ?? null;
  if (node === null && target.cluster === null && !bound.wholeCluster) {
    return {
      problem: {
        thing: "node",
        value: "none named",
        allowed: "a node by path /nodes/{node}/{route}, by header X-Rolecall-Node or by Host",
      },
    };
  }
  return { cluster, node, isAnyCase: nodes[0]?.by === hostHeader };
}

function byHeader(header: string | undefined): Saying | null {
  if (header === undefined || header === "") return null;
  const cut = header.lastIndexOf("/");
  return { by: "header X-Rolecall-Node", cluster: cut < 0 ? null : header.slice(0, cut), node: header.slice(cut + 1) };
}

/** `{node}.{cluster}{suffix}`, in lower case and without its port. A Host without a known suffix says nothing. */
function byHost(host: string | undefined, bound: Bound): Saying | { problem: Misunderstanding } | null {
  if (host === undefined || bound.hostSuffixes.length === 0) return null;
  const name = host.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "");
  const suffix = bound.hostSuffixes.find((candidate) => name.endsWith(candidate) || `.${name}` === candidate);
  if (suffix === undefined) return null;
  const rest = name.slice(0, Math.max(0, name.length - suffix.length));
  const cluster = bound.clusters.find((candidate) => rest.endsWith(`.${candidate.toLowerCase()}`));
  const node = cluster === undefined ? "" : rest.slice(0, -cluster.length - 1);
  if (cluster === undefined || node === "") {
    return {
      problem: { thing: hostHeader, value: host, allowed: `{node}.{cluster}${suffix}, cluster being one of ${bound.clusters.join(", ")}` },
    };
  }
  return { by: hostHeader, cluster, node };
}

function disagreement(sayings: readonly Saying[], what: "cluster" | "node"): Misunderstanding | null {
  const [first, ...others] = sayings;
  if (first === undefined) return null;
  const other = others.find((saying) => !isSame(first, saying, what));
  if (other === undefined) return null;
  return {
    thing: what,
    value: `${first.by} says ${first[what]}, ${other.by} says ${other[what]}`,
    allowed: "the same by all that name one",
  };
}

function isSame(one: Saying, other: Saying, what: "cluster" | "node"): boolean {
  const isAnyCase = one.by === hostHeader || other.by === hostHeader;
  return isAnyCase ? one[what]?.toLowerCase() === other[what]?.toLowerCase() : one[what] === other[what];
}
