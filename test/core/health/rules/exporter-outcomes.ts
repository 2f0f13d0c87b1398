import type { ExporterPage } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import { primaryPage, replicaPage } from "../../../fake/exporter-page.ts";

/** The answers of a primary's and a replica's exporter, whose databases' clocks advance. */
export function healthyExporters(primary: string, replica: string, atMs: number): readonly ProbeOutcome[] {
  return [
    exporterRole(primary, "primary", atMs),
    exporterPage(primary, streamingPrimary, atMs - 1_000),
    exporterPage(primary, streamingPrimary, atMs),
    exporterRole(replica, "replica", atMs),
    exporterPage(replica, streamingReplica, atMs - 1_000),
    exporterPage(replica, streamingReplica, atMs),
  ];
}

export const streamingPrimary: PageContent = { isPrimary: true, streaming: 2 };
const streamingReplica: PageContent = { isPrimary: false, receivesFrom: "10.0.0.6" };

type Role = "primary" | "replica" | "down" | "starting" | "unknown";

/** The answer of `/up` of a node's exporter. */
export function exporterRole(node: string, role: Role, sentAtMs: number): ProbeOutcome {
  const sent = { kind: "exporter", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs } as const;
  return { ...sent, result: { endpoint: "up", role: role } };
}

interface PageContent {
  readonly isPrimary: boolean;
  readonly isPooler?: boolean;
  /** Whether the database's own clock is stopped. */
  readonly isFrozen?: boolean;
  readonly streaming?: number;
  readonly family?: ExporterPage["family"];
  readonly receivesFrom?: string | null;
}

/** A page of metrics of a node's exporter. */
export function exporterPage(node: string, content: PageContent, sentAtMs: number): ProbeOutcome {
  const { isPrimary, isPooler = false, isFrozen = false, streaming = 0, receivesFrom = null } = content;
  const page: ExporterPage = {
    ...(isPrimary ? primaryPage : replicaPage),
    family: content.family ?? "pg_exporter",
    isPooler,
    streaming,
    databaseTimeS: isFrozen ? 0 : sentAtMs / 1000,
    system: "7300000000000000001",
    receiver: isPrimary || receivesFrom === null ? null : { host: receivesFrom, port: 5432, isStreaming: true },
  };
  const sent = { kind: "exporter", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs } as const;
  return { ...sent, result: { endpoint: "metrics", page } };
}
