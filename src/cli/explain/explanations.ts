import { isObject, listOf, type JsonObject } from "../../core/cluster/values/json.ts";
import type { Explanation } from "../../core/health/rules/explain.ts";
import type { ClusterExplanation, ExplainedNode } from "./cluster-explanation.ts";
import type { PrintedExplanation, PrintedRule } from "./explanation.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { rejectedCheck } from "../../core/command/client/check-argument.ts";
import { replyMessage, type RolecallClient } from "../../core/command/client/rolecall-client.ts";

/** A cluster, by its resolved name, and the check to explain. */
export interface ExplainedTarget {
  readonly cluster: string;
  readonly check: string;
}

/** Fetches the explanation of one node from a running rolecall. */
export async function fetchNodeExplanation(
  server: RolecallClient,
  { cluster, check }: ExplainedTarget,
  node: string,
): Promise<PrintedExplanation> {
  const query = new URLSearchParams({ node: `${cluster}/${node}`, check });
  const document = await getExplanation(server, query, check);
  return { cluster, check, ...readNode({ ...document, node }) };
}

/**
 * Fetches the explanation of a whole cluster from a running rolecall.
 * @throws CommandError (RC007) if it is too old to explain whole clusters
 */
export async function fetchClusterExplanation(
  server: RolecallClient,
  { cluster, check }: ExplainedTarget,
): Promise<ClusterExplanation> {
  const document = await getExplanation(server, new URLSearchParams({ cluster, check }), check);
  const { nodes } = document;
  if (!Array.isArray(nodes)) throw new CommandError("RC007", `Cannot read ${server.url}/explain: nodes must be a list`);
  return {
    cluster,
    check,
    fit: document["fit"] === true,
    reason: textOrNull(document["reason"]),
    node: textOrNull(document["node"]),
    nodes: nodes.filter(isObject).map(readNode),
    ...(typeof document["cause"] === "string" ? { cause: document["cause"] } : {}),
  };
}

/** @throws CommandError if the server rejects the check (status 400): see {@link rejectedCheck} */
async function getExplanation(server: RolecallClient, query: URLSearchParams, check: string): Promise<JsonObject> {
  const path = `/explain?${query.toString()}`;
  const reply = await server.getPage(path);
  if (reply.status === 400) throw rejectedCheck(check, replyMessage(reply));
  return server.objectOf(path, reply);
}

/** Converts an explanation that this process made itself. */
export function explainedNode(
  node: string,
  { verdict, rules, decisive }: Explanation,
  remarks: readonly string[],
): ExplainedNode {
  return {
    node,
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    detail: verdict.fit ? null : verdict.figure,
    decisive: decisive === null ? null : (rules[decisive]?.rule ?? null),
    remarks,
    rules: rules.map(({ ageMs, ...rule }) => ({ ...rule, age_ms: ageMs })),
  };
}

function readNode(row: JsonObject): ExplainedNode {
  return {
    node: textOrNull(row["node"]) ?? "?",
    fit: row["fit"] === true,
    reason: textOrNull(row["reason"]),
    isKnown: row["known"] !== false,
    detail: textOrNull(row["detail"]),
    decisive: textOrNull(row["decisive"]),
    remarks: listOf(row["remarks"]).filter((remark) => typeof remark === "string"),
    rules: listOf(row["rules"]).filter(isObject).map(readRule),
  };
}

function readRule(row: JsonObject): PrintedRule {
  return {
    rule: textOrNull(row["rule"]) ?? "",
    outcome: textOrNull(row["outcome"]) ?? "",
    value: textOrNull(row["value"]) ?? "",
    limit: textOrNull(row["limit"]),
    age_ms: typeof row["age_ms"] === "number" ? row["age_ms"] : null,
    source: textOrNull(row["source"]) ?? "",
    reason: textOrNull(row["reason"]),
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
