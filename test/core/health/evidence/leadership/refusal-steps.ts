/** A cluster in which pg2 claims the lock beside pg1, for the tests of the marks of refused claims (rule 2). */
import type { StatusFields } from "../../../../fake/node-documents.ts";
import type { Step } from "../../../../fake/scenario.ts";

/** Views are requested every 3 s, and count for 11.5 s. */
export const policy = { intervalMs: 1_000, viewMaxAgeMs: 11_500, timeoutMs: 2_500 };
export const api = "http://pg2:8008";
export const four = { nodes: ["pg1", "pg2", "pg3", "pg4"] };

export const views = (at: number, named: { readonly [witness: string]: string | null }): Step => ({ at, views: named });
export const idles = (at: number, node = "pg3", more: StatusFields = {}): Step => ({
  at,
  follows: node,
  with: { replication_state: null, ...more },
});
export const claims = (at: number, more: StatusFields = {}): Step => ({ at, leads: "pg2", with: more });
