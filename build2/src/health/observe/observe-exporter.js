import { noExporterEvidence } from "../../cluster/exporter/exporter-evidence.js";
/**
 * Records an exporter probe in a node's evidence. Pure. A failure changes nothing but the recorded failure: silence and
 * unreadable pages say nothing about the database.
 * @returns the same evidence if the outcome is older than what is recorded
 */
export function observeExporter(before, { result, sentAtMs }) {
    const known = before ?? noExporterEvidence;
    if (result.endpoint === "up") {
        if ("failure" in result)
            return { ...known, upFailure: result.failure };
        if (known.up !== null && sentAtMs < known.up.sentAtMs)
            return known;
        return { ...known, up: { role: result.role, sentAtMs }, upFailure: null };
    }
    if ("failure" in result)
        return { ...known, pageFailure: result.failure };
    if (sentAtMs < known.pageSentAtMs)
        return known;
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
/**
 * Whether the database's own clock advanced from one page to the next; `null` if unknown. The clock of a frozen
 * database does not, even while its exporter's `/up` answers 200.
 */
function advances(before, after) {
    if (before === null || before.databaseTimeS === null || after.databaseTimeS === null)
        return null;
    return after.databaseTimeS > before.databaseTimeS;
}
//# sourceMappingURL=observe-exporter.js.map