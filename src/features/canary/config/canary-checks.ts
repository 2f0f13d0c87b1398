import { absolute, absoluteTls, type ConfigOrigin } from "../../../core/config/assemble.ts";
import { checkCertificate } from "../../../core/config/checks/cluster-checks.ts";
import { repetitionIssues } from "../../../core/config/checks/name-checks.ts";
import { findPool } from "../../../core/config/checks/pool-checks.ts";
import { elementsOf, valid, type ValidParts } from "../../../core/config/checks/valid-parts.ts";
import type { FindConfiguredFiles } from "../../../core/config/configured-files.ts";
import type { WholeShape } from "../../../core/config/model/config.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../../../core/config/model/issue.ts";
import { nameOf, objectOf } from "../../../core/cluster/values/json.ts";
import { canarySchema, type CanaryConfig } from "./canary-schema.ts";

/** Checks the canaries of each cluster against each other, and against the pools that they name. */
export function checkCanaries(
  { clusters }: Readonly<Record<string, unknown>>,
  parts: ValidParts,
): readonly ConfigIssue[] {
  return elementsOf(clusters).flatMap((element, index) => {
    const { name, canaries } = objectOf(element);
    const placed = elementsOf(canaries).map((canary, at) => ({
      canary: valid(canarySchema, canary),
      path: ["clusters", index, "canaries", at],
    }));
    return [
      ...repetitionIssues(
        placed.map(({ canary, path }) => ({
          path: [...path, "url"],
          value: canary === null ? null : `${canary.url.target} for pool ${canary.pool}`,
        })),
        "an address that no other canary of the pool has",
      ),
      ...placed.flatMap(({ canary, path }) =>
        canary === null
          ? []
          : [
              ...poolIssues(canary, path, { cluster: nameOf(name), parts }),
              ...checkCertificate(canary.tls, [...path, "tls"]),
            ],
      ),
    ];
  });
}

/** A canary of a cluster stands for clients of one of its pools. */
function poolIssues(
  { pool }: CanaryConfig,
  path: ConfigPath,
  { cluster, parts }: { readonly cluster: string | null; readonly parts: ValidParts },
): readonly ConfigIssue[] {
  const { found, issues } = findPool({ pool }, path, parts);
  if (found === null || cluster === null) return issues;
  const only = parts.clusters.length === 1 ? (parts.clusters[0]?.name ?? null) : null;
  const of = found.cluster ?? only;
  if (of === null || of === cluster) return issues;
  return [...issues, valueIssue([...path, "pool"], pool, `a pool of cluster ${cluster}; this one is of ${of}`)];
}

/** Makes the file names of the canaries absolute. */
export function completeCanaries(shape: WholeShape, { folder }: ConfigOrigin): WholeShape {
  return {
    ...shape,
    clusters: shape.clusters.map((cluster) => ({
      ...cluster,
      canaries: cluster.canaries.map((canary) => ({
        ...canary,
        tls: absoluteTls(() => folder, canary.tls),
        passwordFile: absolute(folder, canary.passwordFile),
      })),
    })),
  };
}

/** The files that canaries read. */
export const canaryFiles: FindConfiguredFiles = ({ clusters }) =>
  clusters.flatMap(({ canaries }, at) =>
    canaries.flatMap(({ tls, passwordFile: secret }, index) => [
      { key: `clusters[${at}].canaries[${index}].tls`, tls },
      { key: `clusters[${at}].canaries[${index}].password_file`, secret },
    ]),
  );
