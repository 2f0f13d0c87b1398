import { type ConfigIssue, type ConfigPath, lackIssue, valueIssue } from "../model/issue.ts";
import type { ClusterShape } from "../model/config.ts";
import { clusterNames, listNames, repetitionIssues } from "./name-checks.ts";
import type { ClusterPart, ValidParts } from "./valid-parts.ts";

/**
 * Checks that names and addresses are not repeated, that each node has an address, that each cluster has nodes or
 * seeds, and that a client certificate and its key are configured together.
 */
export function checkClusters({ clusters }: ValidParts): readonly ConfigIssue[] {
  const nodes = clusters.flatMap(nodesOf);
  const repeated = (key: "name" | "api" | "exporter", among: typeof nodes, allowed: string): readonly ConfigIssue[] =>
    repetitionIssues(
      among.map(({ node, path }) => ({ path: [...path, key], value: node?.[key] })),
      allowed,
    );
  return [
    ...repetitionIssues(
      clusters.map(({ name }, index) => ({ path: ["clusters", index, "name"], value: name })),
      "a name that no other cluster has",
    ),
    ...clusters.flatMap((part, index) =>
      repeated("name", nodesOf(part, index), "a name that no other node of the cluster has"),
    ),
    ...repeated("api", nodes, "an address that no other node has"),
    ...repeated("exporter", nodes, "an address that no other node has"),
    ...nodes.flatMap(({ node, path }) =>
      node?.api === null && node.exporter === null ? [lackIssue(path, "api, exporter, or both", "neither")] : [],
    ),
    ...clusters.flatMap(checkCluster),
    ...checkSources(clusters),
  ];
}

function nodesOf({ nodes }: ClusterPart, index: number) {
  return nodes.map((node, at) => ({ node, path: ["clusters", index, "nodes", at] }));
}

/** Checks that each source is another cluster, and that no cluster is, through others, its own source. */
function checkSources(clusters: readonly ClusterPart[]): readonly ConfigIssue[] {
  // An invalid name could be the one that a source names.
  if (clusterNames(clusters) === null) return [];
  const sourceOf = new Map(clusters.map(({ name, cluster }) => [name, cluster?.source ?? null]));
  return clusters.flatMap(({ name, cluster }, index) => {
    const source = cluster?.source ?? null;
    if (source === null) return [];
    const path = ["clusters", index, "source"];
    if (!sourceOf.has(source)) return [valueIssue(path, source, "the name of another cluster")];
    let next: string | null = source;
    for (let steps = 0; next !== null && next !== name && steps < clusters.length; steps++)
      next = sourceOf.get(next) ?? null;
    return next === name
      ? [valueIssue(path, source, "the name of another cluster, that does not itself replicate from this one")]
      : [];
  });
}

function checkCluster({ cluster, nodes }: ClusterPart, index: number): readonly ConfigIssue[] {
  if (cluster === null) return [];
  const path = ["clusters", index];
  const hasNodes = cluster.discover.length > 0 || nodes.length > 0;
  return [
    ...companionIssues({ cluster, nodes }, path),
    ...(hasNodes ? [] : [lackIssue(path, "discover with at least one seed, nodes, or both", "neither")]),
    ...checkCertificate(cluster.tls, [...path, "tls"]),
    ...checkCertificate(cluster.dcs?.tls ?? null, [...path, "dcs", "tls"]),
    ...(cluster.dcs === null ? [] : dcsIssues(cluster.dcs, [...path, "dcs"])),
  ];
}

/** Checks that the DCS is of one kind. */
function dcsIssues({ etcd, kubernetes }: NonNullable<ClusterShape["dcs"]>, path: ConfigPath): readonly ConfigIssue[] {
  const isBoth = etcd.length > 0 && kubernetes !== undefined;
  const isNeither = etcd.length === 0 && kubernetes === undefined;
  return isBoth || isNeither ? [lackIssue(path, "etcd or kubernetes", isBoth ? "both" : "neither")] : [];
}

/** Checks that companions have names of their own, and paths only where one is requested; and those that nodes name. */
function companionIssues(
  { cluster, nodes }: { readonly cluster: ClusterShape; readonly nodes: ClusterPart["nodes"] },
  path: ConfigPath,
): readonly ConfigIssue[] {
  const { companions } = cluster;
  const names = companions.map(({ name }) => name);
  const allowed =
    names.length === 0 ? "left out, because the cluster has no companions" : `a companion: ${listNames(names)}`;
  return [
    ...repetitionIssues(
      names.map((value, at) => ({ path: [...path, "companions", at, "name"], value })),
      "a name that no other companion of the cluster has",
    ),
    ...companions.flatMap(({ kind, path: requested }, at) =>
      kind === "http" || requested === null
        ? []
        : [valueIssue([...path, "companions", at, "path"], requested, `left out, because kind is ${kind}`)],
    ),
    ...nodes.flatMap((node, at) =>
      Object.keys(node?.companions ?? {})
        .filter((name) => !names.includes(name))
        .map((name) => valueIssue([...path, "nodes", at, "companions", name], name, allowed)),
    ),
  ];
}

/** Checks that a client certificate and its key are configured together. */
export function checkCertificate(
  tls: { readonly cert: string | null; readonly key: string | null } | null,
  path: ConfigPath,
): readonly ConfigIssue[] {
  if (tls === null || (tls.cert === null) === (tls.key === null)) return [];
  return [lackIssue(path, "cert and key, or neither", tls.key === null ? "cert alone" : "key alone")];
}
