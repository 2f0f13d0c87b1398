import type { Assignment } from "../../../src/features/xds/assignment/assignment.ts";
import type { PublishedPool } from "../../../src/features/xds/pool-assignments.ts";
import { plainCheck } from "../../../src/core/health/check.ts";

const empty: Assignment = { endpoints: [], zones: [], overprovisioning: 100, staleAfterMs: null, checksAt: null };

/** A published pool with what a test states of it. */
export function publishedPool({
  name,
  version,
  assignment = {},
}: {
  readonly name: string;
  readonly version: string;
  readonly assignment?: Partial<Assignment>;
}): PublishedPool {
  const pool = { name, cluster: "demo", check: plainCheck("primary"), checkText: "/primary", weight: null };
  return { pool, version, assignment: { ...empty, ...assignment }, leftOut: [] };
}
