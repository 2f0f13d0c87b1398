export {};
//# sourceMappingURL=routing-context.js.map