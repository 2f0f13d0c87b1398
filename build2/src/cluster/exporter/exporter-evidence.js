/** The evidence from an exporter before its first probe. */
export const noExporterEvidence = {
    up: null,
    page: null,
    pageSentAtMs: -Infinity,
    hasAdvanced: null,
    provenAtMs: -Infinity,
    upFailure: null,
    pageFailure: null,
};
//# sourceMappingURL=exporter-evidence.js.map