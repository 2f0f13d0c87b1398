import type { ExporterEvidence } from "../../cluster/exporter/exporter-evidence.ts";
import type { ExporterPage, ExporterSender } from "../../cluster/exporter/exporter-report.ts";
import type { Node } from "../../cluster/node.ts";
import { reportDefaults, type Report } from "../../cluster/documents/report.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/** What an exporter-only node is taken to have said: the exporter's words, in the words of a node API. */
export interface ExporterReport {
  readonly report: Report;
  /** Without a cluster manager there is no lock: not being in recovery is the claim. */
  readonly hasLock: boolean;
  readonly sentAtMs: number;
}

/** The state that each word stands for. `starting` covers shutting down and a standby that takes no questions, too. */
const states = {
  primary: "running",
  replica: "running",
  down: "stopped",
  starting: "starting",
  unknown: "unknown",
} as const;

/**
 * Whether an asking speaks for the node at all: postgres_exporter has no `/up`, and its page says everything; with pg_exporter `/up` is
 * the word, and its page adds positions.
 */
export function isPrimarySource({ up, page }: ExporterEvidence, asked: "up" | "metrics"): boolean {
  return (up === null && page?.family === "postgres_exporter") === (asked === "metrics");
}

/**
 * Puts what an exporter said into a report, for a node that has no API.
 * @returns `null` while neither a word nor a page is there
 */
export function reportFromExporter(
  cluster: ClusterState,
  node: Node,
  evidence: ExporterEvidence,
): ExporterReport | null {
  const { up, page, pageSentAtMs } = evidence;
  if (up === null && page === null) return null;
  const role = roleOf(evidence);
  const state = up === null ? (page?.isUp === false ? "stopped" : "running") : states[up.role];
  return {
    report: reportOf({ role, state, page, replayed: page?.replayed ?? replayedByUpstream(cluster, node) }),
    hasLock: role === "primary" && state === "running",
    sentAtMs: up?.sentAtMs ?? pageSentAtMs,
  };
}

/**
 * The role that word and page agree on. Where they differ a promotion is under way, or the word is an old one (a scrape or a frozen
 * database holds it up): then the role is unknown, and a page is asked for at once. A pooler has no role, whatever it says.
 */
function roleOf({ up, page }: ExporterEvidence): string {
  if (page?.isPooler === true) return "pooler";
  const said = up === null || (up.role !== "primary" && up.role !== "replica") ? null : up.role;
  const seen = page === null || page.isInRecovery === null ? null : page.isInRecovery ? "replica" : "primary";
  if (said === null) return seen ?? "unknown";
  return seen === null || seen === said ? said : "unknown";
}

interface Facts {
  readonly role: string;
  readonly state: string;
  readonly page: ExporterPage | null;
  readonly replayed: number | null;
}

function reportOf({ role, state, page, replayed }: Facts): Report {
  const isPrimary = role === "primary";
  return {
    role,
    state,
    // An exporter's timeline is the old one for minutes after a promotion.
    timeline: null,
    location: isPrimary ? (page?.written ?? null) : null,
    received: isPrimary ? null : (page?.received ?? null),
    replayed: isPrimary ? null : replayed,
    replicationState: page?.receiver?.isStreaming === true ? "streaming" : null,
    senders: (page?.senders ?? []).map(senderRow),
    ...reportDefaults,
    system: page?.system ?? null,
    scope: null,
    name: null,
    version: null,
    document: documentOf({ role, state, page, replayed }),
  };
}

/** The node's status document as a node API would have written it, as far as it is known. */
function documentOf({ role, state, page, replayed }: Facts): string {
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
  return JSON.stringify(document);
}

function senderRow({ name, address, isStreaming }: ExporterSender): Report["senders"][number] {
  return { name, address, state: isStreaming ? "streaming" : "other" };
}

function senderDocument({ name, address, isStreaming }: ExporterSender): object {
  return { application_name: name, client_addr: address, state: isStreaming ? "streaming" : "other" };
}

/** How far a standby has replayed, as the primary's page tells it: postgres_exporter says nothing of it on the standby itself. */
function replayedByUpstream(cluster: ClusterState, node: Node): number | null {
  for (const index of cluster.lockClaims) {
    const page = cluster.nodes[index]?.exporter?.page;
    if (page === undefined || page === null || cluster.nodes[index]?.node === node) continue;
    const row = page.senders.find((sender) => isSenderTo(cluster, { sender, node }));
    if (row !== undefined) return row.replayed;
  }
  return null;
}

/** By name; else by an address that only one node's database has. */
export function isSenderTo(
  cluster: ClusterState,
  { sender, node }: { readonly sender: ExporterSender; readonly node: Node },
): boolean {
  if (sender.name === node.name || sender.name === node.member) return true;
  const at = cluster.nodes.filter(
    (other) => other.node.database !== null && other.node.database.host === sender.address,
  );
  const isNamed = cluster.nodes.some((other) => sender.name === other.node.name || sender.name === other.node.member);
  return !isNamed && at.length === 1 && at[0]?.node.name === node.name;
}
