export {};
//# sourceMappingURL=status-types.js.map