export {};
//# sourceMappingURL=shown-cluster.js.map