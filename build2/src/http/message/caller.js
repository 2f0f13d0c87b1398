export {};
//# sourceMappingURL=caller.js.map