import type { CertificateKeys, PartialConfig, PartialCluster } from "../sources/partial-config.ts";
import { type ConfigIssue, type ConfigPath, formatPath, valueIssue } from "../model/issue.ts";

/**
 * Checks that names and addresses are not repeated, that each node has an address, that each cluster has nodes or
 * seeds, and that a client certificate and its key are configured together.
 */
export function checkClusters({ clusters }: PartialConfig): readonly ConfigIssue[] {
  const names = clusters.map(({ name }, index) => ({ path: ["clusters", index, "name"], value: name }));
  const nodes = clusters.flatMap((cluster, index) =>
    cluster.nodes.map((node, at) => ({ node, path: ["clusters", index, "nodes", at] })),
  );
  return [
    ...repetitionIssues(names, "a name that no other cluster has"),
    ...clusters.flatMap((_, index) =>
      repetitionIssues(
        nodes
          .filter(({ path }) => path[1] === index)
          .map(({ node, path }) => ({ path: [...path, "name"], value: node.name })),
        "a name that no other node of the cluster has",
      ),
    ),
    ...repetitionIssues(
      nodes.map(({ node, path }) => ({ path: [...path, "api"], value: node.api })),
      "an address that no other node has",
    ),
    ...repetitionIssues(
      nodes.map(({ node, path }) => ({ path: [...path, "exporter"], value: node.exporter })),
      "an address that no other node has",
    ),
    ...nodes.flatMap(({ node, path }) => (node.hasAddress ? [] : [noAddress(path)])),
    ...clusters.flatMap(checkCluster),
    ...checkSources(clusters),
  ];
}

/** Checks that each source is another cluster, and that no cluster is, through others, its own source. */
function checkSources(clusters: readonly PartialCluster[]): readonly ConfigIssue[] {
  const sourceOf = new Map(clusters.map(({ name, source }) => [name, source ?? undefined]));
  // An invalid name could be the one that a source names.
  if (sourceOf.has(undefined)) return [];
  return clusters.flatMap(({ name, source }, index) => {
    if (source === null || source === undefined) return [];
    const path = ["clusters", index, "source"];
    if (!sourceOf.has(source)) return [valueIssue(path, source, "the name of another cluster")];
    let next: string | undefined = source;
    for (let steps = 0; next !== undefined && next !== name && steps < clusters.length; steps++)
      next = sourceOf.get(next);
    return next === name
      ? [valueIssue(path, source, "the name of another cluster, that does not itself replicate from this one")]
      : [];
  });
}

function noAddress(path: ConfigPath): ConfigIssue {
  const allowed = "api, exporter, or both";
  return { path, found: "neither", allowed, message: `must have ${allowed}, got neither`, isKey: false };
}

function checkCluster(cluster: PartialCluster, index: number): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (!cluster.hasDiscover && cluster.nodes.length === 0) {
    issues.push({
      path: ["clusters", index],
      found: "neither",
      allowed: "discover with at least one seed, nodes, or both",
      message: "must have discover with at least one seed, nodes, or both, got neither",
      isKey: false,
    });
  }
  return [
    ...issues,
    ...checkCertificate(cluster, ["clusters", index, "tls"]),
    ...checkCertificate(cluster.dcs, ["clusters", index, "dcs", "tls"]),
  ];
}

function checkCertificate({ hasCert, hasKey }: CertificateKeys, path: ConfigPath): readonly ConfigIssue[] {
  if (hasCert === hasKey) return [];
  const found = `${hasCert ? "cert" : "key"} alone`;
  const allowed = "cert and key, or neither";
  return [{ path, found, allowed, message: `must have ${allowed}, got ${found}`, isKey: false }];
}

/** Returns an issue for each value that an earlier entry has too. An invalid value (`undefined`) equals no other. */
export function repetitionIssues(
  entries: readonly { readonly path: ConfigPath; readonly value: string | undefined }[],
  allowed: string,
): readonly ConfigIssue[] {
  const first = new Map<string, ConfigPath>();
  const issues: ConfigIssue[] = [];
  for (const { path, value } of entries) {
    if (value === undefined) continue;
    const earlier = first.get(value);
    if (earlier === undefined) first.set(value, path);
    else issues.push(valueIssue(path, value, `${allowed} (${formatPath(earlier)} already has it)`));
  }
  return issues;
}
