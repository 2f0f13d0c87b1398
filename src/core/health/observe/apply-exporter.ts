import type { ExporterOutcome } from "../../cluster/outcome.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { isOwnFailure } from "../../cluster/values/failure.ts";
import { withFailure } from "../evidence/node/fall-and-rise.ts";
import { maxAgeMs } from "../evidence/node/freshness.ts";
import { isPrimarySource, reportFromExporter } from "../evidence/node/report-from-exporter.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { nextDiskWait } from "./disk-wait.ts";
import { applyReport, replaceNode, withAnswer, withLockClaim } from "./apply-report.ts";
import { type ExporterEvidence, noExporterEvidence } from "../../cluster/exporter/exporter-evidence.ts";
import type { ExporterPage } from "../../cluster/exporter/exporter-report.ts";

/** The fields that count a node's failed probes. */
function failuresOf({ failuresInRow, failedAtMs, answersInRow, failure, isDown }: Observation): Partial<Observation> {
  return { failuresInRow, failedAtMs, answersInRow, failure, isDown };
}

/**
 * Applies an exporter probe to a cluster's state. An exporter is a second source of evidence, in addition to the node's
 * API; for a node without an API it is the only one, and its answers become the node's report.
 */
export function applyExporter(
  cluster: ClusterState,
  outcome: ExporterOutcome,
  context: EvaluationContext,
): ClusterState {
  const { policy } = context;
  const at = cluster.index.get(outcome.node);
  const known = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || known === undefined) return cluster;
  const { result, sentAtWallMs } = outcome;
  if ("failure" in result && isOwnFailure(result.failure)) return cluster;
  const exporter = observeExporter(known.exporter, outcome, known.report?.location ?? null);
  const before = { ...known, exporter };
  const noted = replaceNode(cluster, at, before);
  if (known.node.api !== null || exporter === known.exporter) return noted;
  if ("failure" in result)
    return isPrimarySource(exporter, result.endpoint)
      ? replaceNode(cluster, at, withFailure(before, { failure: result.failure, sentAtMs: outcome.sentAtMs }, policy))
      : noted;
  const answer = reportFromExporter(noted, { node: known.node, evidence: exporter }, context);
  if (answer === null) return noted;
  const isPage = result.endpoint === "metrics";
  // Positions are as old as their page, and a page may be older than the last answer of `/up`.
  const sentAtMs = isPage ? Math.min(answer.sentAtMs, outcome.sentAtMs) : answer.sentAtMs;
  const maxAge = maxAgeMs(cluster, policy);
  const answered = withAnswer(before, { ...answer, sentAtMs, sentAtWallMs }, { policy, maxAge });
  // Where `/up` decides, an answered page does not reset the failures of `/up`: otherwise the node would never be
  // `down`, only `stale`.
  const observation = isPage && exporter.up !== null ? { ...answered, ...failuresOf(before) } : answered;
  if (isPage) return applyReport(noted, { at, before, observation }, context).state;
  return withLockClaim(noted, { at, observation });
}

/**
 * Records an exporter probe in a node's evidence. Pure. A failure changes nothing but the recorded failure: silence and
 * unreadable pages say nothing about the database.
 * @param reported the position in the node's last report, in bytes of WAL
 * @returns the same evidence if the outcome is older than what is recorded
 */
export function observeExporter(
  before: ExporterEvidence | null,
  { result, sentAtMs }: ExporterOutcome,
  reported: number | null = null,
): ExporterEvidence {
  const known = before ?? noExporterEvidence;
  if (result.endpoint === "up") {
    if ("failure" in result) return { ...known, upFailure: result.failure };
    if (known.up !== null && sentAtMs < known.up.sentAtMs) return known;
    return { ...known, up: { role: result.role, sentAtMs }, upFailure: null };
  }
  if ("failure" in result) return { ...known, pageFailure: result.failure };
  if (sentAtMs < known.pageSentAtMs) return known;
  const hasAdvanced = advances(known.page, result.page);
  const isProof = result.page.isUp === true && (result.page.family === "postgres_exporter" || hasAdvanced === true);
  return {
    ...known,
    page: result.page,
    pageSentAtMs: sentAtMs,
    hasAdvanced,
    provenAtMs: isProof ? sentAtMs : known.provenAtMs,
    diskWait: nextDiskWait(known, { page: result.page, sentAtMs, reported }),
    pageFailure: null,
  };
}

/**
 * Whether the database's own clock advanced from one page to the next; `null` if unknown. The clock of a frozen
 * database does not, even while its exporter's `/up` answers 200.
 */
function advances(before: ExporterPage | null, after: ExporterPage): boolean | null {
  if (before === null || before.databaseTimeS === null || after.databaseTimeS === null) return null;
  return after.databaseTimeS > before.databaseTimeS;
}
