export {};
//# sourceMappingURL=node.js.map