import type { ExporterEvidence } from "../../../cluster/exporter/exporter-evidence.ts";
import type { ExporterPage, ExporterSender } from "../../../cluster/exporter/exporter-report.ts";
import { lockHolderOf } from "../../../cluster/leadership.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Node } from "../../../cluster/node.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import { reportDefaults } from "../../../cluster/evidence/evidence-fields.ts";
import { withDefaults } from "../../../cluster/evidence/fields.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { nodeJson } from "../../../cluster/values/json.ts";
import { isNamedBy, nodeAtAddress } from "./sender-rows.ts";
import type { EvaluationContext } from "../../health-policy.ts";

/** An exporter's evidence as the report of a node without an API. */
export interface ExporterReport {
  readonly report: Report;
  /** Without a cluster manager there is no lock: a node that is not in recovery counts as claiming it. */
  readonly hasLock: boolean;
  readonly sentAtMs: number;
}

/**
 * The PostgreSQL state for each role of `/up`. `starting` also covers shutdown, and a standby that accepts no
 * connections.
 */
const states = {
  primary: "running",
  replica: "running",
  down: "stopped",
  starting: "starting",
  unknown: "unknown",
} as const;

/**
 * Whether an endpoint decides over the node: the page of postgres_exporter, which has no `/up`; else `/up`, to which
 * the page of pg_exporter adds positions.
 */
export function isPrimarySource({ up, page }: ExporterEvidence, endpoint: "up" | "metrics"): boolean {
  return (up === null && page?.family === "postgres_exporter") === (endpoint === "metrics");
}

/**
 * Builds the report of a node that has no API from its exporter's evidence.
 * @returns `null` while the exporter has answered neither `/up` nor a page
 */
export function reportFromExporter(
  cluster: ClusterState,
  { node, evidence }: { readonly node: Node; readonly evidence: ExporterEvidence },
  context: EvaluationContext,
): ExporterReport | null {
  const { up, page, pageSentAtMs } = evidence;
  if (up === null && page === null) return null;
  const role = roleOf(evidence);
  const state = up === null ? (page?.isUp === false ? "stopped" : "running") : states[up.role];
  return {
    report: reportOf({ role, state, page, replayed: page?.replayed ?? replayedByUpstream(cluster, node, context) }),
    hasLock: role === "primary" && state === "running",
    sentAtMs: up?.sentAtMs ?? pageSentAtMs,
  };
}

/**
 * The role that `/up` and the page agree on. If they differ, a promotion is under way, or the answer of `/up` is old (a
 * scrape or a frozen database delays it): then the role is unknown, and a page is requested at once. A pooler has no
 * role.
 */
function roleOf({ up, page }: ExporterEvidence): string {
  if (page?.isPooler === true) return "pooler";
  const byUp = up === null || (up.role !== "primary" && up.role !== "replica") ? null : up.role;
  const byPage = page === null || page.isInRecovery === null ? null : page.isInRecovery ? "replica" : "primary";
  if (byUp === null) return byPage ?? "unknown";
  return byPage === null || byPage === byUp ? byUp : "unknown";
}

interface ReportInputs {
  readonly role: string;
  readonly state: string;
  readonly page: ExporterPage | null;
  readonly replayed: number | null;
}

function reportOf({ role, state, page, replayed }: ReportInputs): Report {
  const isPrimary = role === "primary";
  return withDefaults(reportDefaults, {
    role,
    state,
    // Its timeline is unknown: an exporter reports the old one for minutes after a promotion.
    location: isPrimary ? (page?.written ?? null) : null,
    received: isPrimary ? null : (page?.received ?? null),
    replayed: isPrimary ? null : replayed,
    replicationState: page?.receiver?.isStreaming === true ? "streaming" : null,
    senders: (page?.senders ?? []).map(senderRow),
    isNoLoadBalance: false,
    system: page?.system ?? null,
    document: documentOf({ role, state, page, replayed }),
  });
}

/** The node's status document as a node API would write it, as far as it is known. */
function documentOf({ role, state, page, replayed }: ReportInputs): string {
  const xlog =
    role === "primary"
      ? { location: page?.written }
      : { received_location: page?.received, replayed_location: replayed };
  const document = {
    state,
    role,
    ...(page === null ? {} : { server_version: page.serverVersion, xlog, timeline: page.timeline }),
    ...(page === null || page.senders.length === 0 ? {} : { replication: page.senders.map(senderDocument) }),
    ...(page === null || page.system === null ? {} : { database_system_identifier: page.system }),
  };
  return nodeJson(document);
}

function senderRow({ name, address, isStreaming }: ExporterSender): Report["senders"][number] {
  return { name, address, state: isStreaming ? "streaming" : "other" };
}

function senderDocument({ name, address, isStreaming }: ExporterSender): object {
  return { application_name: name, client_addr: address, state: isStreaming ? "streaming" : "other" };
}

/**
 * A standby's replayed position by the page of the accepted leader, while that page is young: postgres_exporter does
 * not report it on the standby itself.
 */
function replayedByUpstream(cluster: ClusterState, node: Node, { policy, nowMs }: EvaluationContext): number | null {
  const { node: leader, exporter } = nodeNamed(cluster, lockHolderOf(cluster.leadership)) ?? { exporter: null };
  if (exporter === null || leader === node || nowMs >= exporter.pageSentAtMs + policy.pageMaxAgeMs) return null;
  return exporter.page?.senders.find((sender) => isSenderTo(cluster, { sender, node }))?.replayed ?? null;
}

/** Whether a sender row is about the node: by name, else by an address that only this node's database has. */
export function isSenderTo(
  cluster: ClusterState,
  { sender, node }: { readonly sender: ExporterSender; readonly node: Node },
): boolean {
  return isNamedBy(node, sender.name) || nodeAtAddress(cluster, sender)?.name === node.name;
}
