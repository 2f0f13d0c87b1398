import type { DatabaseAddress, Node } from "../../../cluster/node.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HardReason } from "../../reason.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/**
 * Whether the report has another scope than the cluster's. `false` if the report has none, or the cluster's is
 * unknown.
 */
export function isOutOfScope(cluster: ClusterState, report: Report): boolean {
  return cluster.scope !== null && report.scope !== null && report.scope !== cluster.scope;
}

/**
 * Whether a node's report is of another cluster, database system or node (rule 7).
 * @returns `foreign`: another scope, or another system identifier than the leader's; `misaddressed`: another node's
 * name; else `null`
 */
export function identityMismatch(
  cluster: ClusterState,
  observation: Observation,
  policy: HealthPolicy,
): HardReason | null {
  const { report, node } = observation;
  if (report === null || !policy.guards.sameSystem) return null;
  const system = cluster.position?.system ?? null;
  if (isOutOfScope(cluster, report) || (system !== null && report.system !== null && report.system !== system))
    return "foreign";
  return isMisaddressed(node, report) ? "misaddressed" : null;
}

/** What differs, in words, as `system 7000000000000000009` or the other member's name. @param reason the mismatch */
export function mismatchFigure(cluster: ClusterState, report: Report, reason: HardReason): string | null {
  if (reason === "misaddressed") return report.name;
  return isOutOfScope(cluster, report) ? `scope ${report.scope}` : `system ${report.system}`;
}

/** Whether the report has another member name than the node's. Before version 4 nodes report none. */
export function isMisaddressed(node: Node, report: Report): boolean {
  return report.name !== null && report.name !== node.member;
}

/**
 * Whether a database address stated by a check is not the node's (rule 7, `moved`). Hosts are compared as text. An IP
 * address and a name cannot be compared without a resolver. In that case only the ports are compared.
 */
export function isDifferentAddress(stated: DatabaseAddress, known: DatabaseAddress | null): boolean {
  if (known === null) return false;
  if (stated.port !== known.port) return true;
  const [one, other] = [bareHost(stated.host), bareHost(known.host)];
  return isNumeric(one) === isNumeric(other) && one !== other;
}

/** One spelling of a host: lower case, no brackets, no dot at the end, IPv6 as RFC 5952 writes it. */
export function bareHost(host: string): string {
  const plain = host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/^::ffff:(?=\d+\.)/, "")
    .replace(/(?<=.)\.$/, "");
  if (!plain.includes(":")) return plain;
  const url = `http://[${plain}]/`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : plain;
}

function isNumeric(host: string): boolean {
  return host.includes(":") || /^\d+(\.\d+){3}$/.test(host);
}
