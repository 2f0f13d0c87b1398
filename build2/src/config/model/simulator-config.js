export {};
//# sourceMappingURL=simulator-config.js.map