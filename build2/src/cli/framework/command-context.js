export {};
//# sourceMappingURL=command-context.js.map