export {};
//# sourceMappingURL=node-context.js.map