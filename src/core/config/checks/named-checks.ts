import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import { type CheckTextRules, parseCheckText } from "../values/check-text.ts";
import { clusterNames, listNames } from "./name-checks.ts";
import type { ClusterPart } from "./valid-parts.ts";

/**
 * Finds the cluster that an entry names, or the only one if it names none.
 * @param path the path of the entry
 * @returns the issue if there is none; both are `null` while the names of all clusters are not known
 */
export function findCluster(
  cluster: string | null,
  path: ConfigPath,
  clusters: readonly ClusterPart[],
): { readonly found: ClusterPart | null; readonly issues: readonly ConfigIssue[] } {
  const names = clusterNames(clusters);
  if (names === null) return { found: null, issues: [] };
  const found = cluster === null && clusters.length === 1 ? clusters[0] : clusters.find(({ name }) => name === cluster);
  if (found !== undefined) return { found, issues: [] };
  const allowed = `the name of a cluster: ${listNames(names)}`;
  return { found: null, issues: [valueIssue([...path, "cluster"], cluster ?? undefined, allowed)] };
}

/**
 * Returns an issue if a check asks for companions that its cluster does not have.
 * @param found the cluster; `null` while it is not known
 */
export function companionIssues(
  companions: readonly string[],
  path: ConfigPath,
  found: ClusterPart | null,
): readonly ConfigIssue[] {
  const known = found?.cluster?.companions.map(({ name }) => name) ?? null;
  const unknown = known === null ? [] : companions.filter((name) => !known.includes(name));
  if (known === null || unknown.length === 0) return [];
  const subject = path.at(-1) === "check" ? "a check whose parameter with is " : "";
  const allowed =
    known.length === 0
      ? `left out, because cluster ${found?.name} has no companions`
      : `one or more companions of cluster ${found?.name}: ${listNames(known)}`;
  return [valueIssue(path, unknown.join(","), `${subject}${allowed}`)];
}

/**
 * Returns an issue if the text is no check, or asks for companions that its cluster does not have.
 * @param path the path of the text
 * @param context how it is parsed, and the cluster; `null` while that is not known
 */
export function checkTextIssues(
  check: string,
  path: ConfigPath,
  { rules, found: cluster }: { readonly rules: CheckTextRules; readonly found: ClusterPart | null },
): readonly ConfigIssue[] {
  const parsed = parseCheckText(check, rules);
  if (parsed.ok) return companionIssues(parsed.check.companions, path, cluster);
  const { subject, value, allowed } = parsed.problem;
  const found = subject === "route" ? check : `${subject}: ${value}`;
  return [valueIssue(path, found, `a check whose ${subject} is ${allowed}`)];
}
