import { type ConfigIssue, valueIssue } from "../../../core/config/model/issue.ts";
import { repetitionIssues } from "../../../core/config/checks/name-checks.ts";
import { findPool } from "../../../core/config/checks/pool-checks.ts";
import { elementsOf, valid, type ValidParts } from "../../../core/config/checks/valid-parts.ts";
import { auditedEnvoySchema } from "./audit-schema.ts";
import { objectOf } from "../../../core/cluster/values/json.ts";

/** Checks the Envoys of the audit against each other, the other targets, and the pools that they name. */
export function checkAudit(
  { audit: written }: Readonly<Record<string, unknown>>,
  parts: ValidParts,
): readonly ConfigIssue[] {
  const envoys = elementsOf(objectOf(written)["envoys"]).map((envoy, index) => ({
    envoy: valid(auditedEnvoySchema, envoy),
    path: ["audit", "envoys", index],
  }));
  const taken = new Set([...parts.balancers, ...parts.poolers].map(({ name }) => name));
  return [
    ...repetitionIssues(
      envoys.map(({ envoy, path }) => ({ path: [...path, "name"], value: envoy?.name })),
      "a name that no other Envoy has",
    ),
    ...envoys.flatMap(({ envoy, path }) => {
      if (envoy === null) return [];
      const pools = Object.entries(envoy.pools ?? {}).flatMap(([cluster, pool]) =>
        findPool({ pool }, [...path, "pools", cluster], parts).issues.map((issue) => ({
          ...issue,
          path: [...path, "pools", cluster],
        })),
      );
      return taken.has(envoy.name)
        ? [...pools, valueIssue([...path, "name"], envoy.name, "a name that no balancer or pooler has")]
        : pools;
    }),
  ];
}
