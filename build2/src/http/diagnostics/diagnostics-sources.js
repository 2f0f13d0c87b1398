export {};
//# sourceMappingURL=diagnostics-sources.js.map