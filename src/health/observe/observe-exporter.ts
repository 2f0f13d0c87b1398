import { noEvidence, type ExporterEvidence } from "../../cluster/exporter/exporter-evidence.ts";
import type { ExporterPage } from "../../cluster/exporter/exporter-report.ts";
import type { ExporterOutcome } from "../../cluster/outcome.ts";

/**
 * Takes one asking of an exporter into what is known through it. Silence and noise change nothing but the failure: they are
 * no word on the database (reference/exporter-api.md, section 12). Pure.
 * @returns the same evidence when the outcome is older than what is held
 */
export function observeExporter(
  before: ExporterEvidence | null,
  { result, sentAtMs }: ExporterOutcome,
): ExporterEvidence {
  const known = before ?? noEvidence;
  if (result.asked === "up") {
    if ("failure" in result) return { ...known, upFailure: result.failure };
    if (known.up !== null && sentAtMs < known.up.sentAtMs) return known;
    return { ...known, up: { role: result.word, sentAtMs }, upFailure: null };
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
    pageFailure: null,
  };
}

/** Whether the database's own clock moved from page to page. A frozen database's does not, whatever its exporter's `/up` says. */
function advances(before: ExporterPage | null, after: ExporterPage): boolean | null {
  if (before === null || before.databaseTimeS === null || after.databaseTimeS === null) return null;
  return after.databaseTimeS > before.databaseTimeS;
}
