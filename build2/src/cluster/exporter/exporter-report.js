/** The five status words of an exporter's `/up`. */
export const exporterRoles = ["primary", "replica", "down", "starting", "unknown"];
//# sourceMappingURL=exporter-report.js.map