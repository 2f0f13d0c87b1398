import { type ConfigIssue, type ConfigPath, formatPath, valueIssue } from "../model/issue.ts";
import type { ClusterPart } from "./valid-parts.ts";

const namesMax = 20;

/** Returns an issue for each value that an earlier entry has too. An invalid value (`null`) equals no other. */
export function repetitionIssues(
  entries: readonly { readonly path: ConfigPath; readonly value: string | null | undefined }[],
  allowed: string,
): readonly ConfigIssue[] {
  const first = new Map<string, ConfigPath>();
  const issues: ConfigIssue[] = [];
  for (const { path, value } of entries) {
    if (value === null || value === undefined) continue;
    const earlier = first.get(value);
    if (earlier === undefined) first.set(value, path);
    else issues.push(valueIssue(path, value, `${allowed} (${formatPath(earlier)} already has it)`));
  }
  return issues;
}

/** The names of all clusters; `null` if they are not known, because one is invalid or there is none. */
export function clusterNames(clusters: readonly ClusterPart[]): readonly string[] | null {
  const names = clusters.flatMap(({ name }) => name ?? []);
  return names.length === clusters.length && names.length > 0 ? names : null;
}

/** Returns an issue for each named node that a cluster does not have, if all its nodes are known. */
export function nodeIssues(
  named: readonly { readonly path: ConfigPath; readonly node: string }[],
  { name, cluster, nodes }: ClusterPart,
): readonly ConfigIssue[] {
  const known = nodes.flatMap((node) => node?.name ?? []);
  // An invalid node could be the one that is named.
  if (cluster === null || cluster.discover.length > 0 || known.length < nodes.length || known.length === 0) return [];
  const allowed = `a node of the cluster ${name ?? ""}: ${listNames(known)}`;
  return named.filter(({ node }) => !known.includes(node)).map(({ path, node }) => valueIssue(path, node, allowed));
}

/** Joins names for a message; many are shortened. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, namesMax).join(", ");
  return names.length > namesMax ? `${shown} and ${names.length - namesMax} more` : shown;
}
