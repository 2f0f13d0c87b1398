import { nodeLines, type FitNode } from "./fit-nodes.ts";
import type { RunRequest } from "./latest-run.ts";

/**
 * The environment variables of a run, which docs/poolers.md lists. HOST, PORT and NODE are those of the first node. Pure.
 * @param at when the run starts
 */
export function commandVariables(
  { cluster, check }: { readonly cluster: string; readonly check: string },
  { nodes, previous, attempt }: RunRequest,
  at: Date,
): Readonly<Record<string, string>> {
  return {
    ROLECALL_CLUSTER: cluster,
    ROLECALL_CHECK: check,
    ...variablesOf("ROLECALL", nodes),
    ...variablesOf("ROLECALL_PREVIOUS", previous),
    ROLECALL_ATTEMPT: String(attempt),
    ROLECALL_AT: at.toISOString(),
  };
}

function variablesOf(prefix: string, nodes: readonly FitNode[]): Readonly<Record<string, string>> {
  const [first] = nodes;
  return {
    [`${prefix}_NODE`]: first?.node ?? "",
    [`${prefix}_HOST`]: first?.host ?? "",
    [`${prefix}_PORT`]: first === undefined ? "" : String(first.port),
    [`${prefix}_NODES`]: nodeLines(nodes),
  };
}
