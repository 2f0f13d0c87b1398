export {};
//# sourceMappingURL=weight-config.js.map