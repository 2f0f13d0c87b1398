export {};
//# sourceMappingURL=sources.js.map