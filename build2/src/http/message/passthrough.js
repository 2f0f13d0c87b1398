export {};
//# sourceMappingURL=passthrough.js.map