import type { PoolShape } from "../model/config.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import { parseCheckText } from "../values/check-text.ts";
import { listNames, repetitionIssues } from "./name-checks.ts";
import { checkTextIssues, companionIssues, findCluster } from "./named-checks.ts";
import type { ValidParts } from "./valid-parts.ts";

/** Checks the pools against each other and against the clusters that they name, and parses their checks. */
export function checkPools(parts: ValidParts): readonly ConfigIssue[] {
  return [
    ...repetitionIssues(
      parts.pools.map(({ name }, index) => ({ path: ["pools", index, "name"], value: name })),
      "a name that no other pool has",
    ),
    ...parts.pools.flatMap(({ pool }, index) => (pool === null ? [] : checkPool(pool, ["pools", index], parts))),
  ];
}

function checkPool(
  { cluster, check, min, zones, with: companions }: PoolShape,
  path: ConfigPath,
  parts: ValidParts,
): readonly ConfigIssue[] {
  const parsed = parseCheckText(check, parts);
  const hasKeep = min !== null && parsed.ok && parsed.check.keep > 0;
  const hasZones = zones.length > 0 && parsed.ok && parsed.check.zones.length > 0;
  const hasWith = companions.length > 0 && parsed.ok && parsed.check.companions.length > 0;
  const { found, issues } = findCluster(cluster, path, parts.clusters);
  return [
    ...issues,
    ...companionIssues(companions, [...path, "with"], found),
    ...checkTextIssues(check, [...path, "check"], { rules: parts, found }),
    ...(hasZones ? [valueIssue([...path, "zones"], zones, "left out, because the check has the parameter zone")] : []),
    ...(hasWith
      ? [valueIssue([...path, "with"], companions, "left out, because the check has the parameter with")]
      : []),
    ...(hasKeep ? [valueIssue([...path, "min"], min, "left out, because the check has the parameter keep")] : []),
  ];
}

/**
 * Finds the pool that an entry refers to.
 * @param entry the entry with the keys that a pool takes the place of; those left out are `null`
 * @param path the path of the entry
 * @returns the issues if the pool does not exist, or one of those keys is written beside it
 */
export function findPool(
  { pool: name, ...others }: { readonly pool: string } & Readonly<Record<string, unknown>>,
  path: ConfigPath,
  { pools }: Pick<ValidParts, "pools">,
): { readonly found: PoolShape | null; readonly issues: readonly ConfigIssue[] } {
  const issues = Object.entries(others)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => valueIssue([...path, key], value, "left out, because pool is set"));
  const found = pools.find((part) => part.name === name);
  if (found !== undefined) return { found: found.pool, issues };
  // One whose name is not known could be the one that is named.
  if (pools.some((part) => part.name === null)) return { found: null, issues };
  const names = pools.flatMap((part) => part.name ?? []);
  const allowed =
    names.length === 0 ? "the name of a pool, but there are none" : `the name of a pool: ${listNames(names)}`;
  return { found: null, issues: [...issues, valueIssue([...path, "pool"], name, allowed)] };
}
