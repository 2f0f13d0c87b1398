export {};
//# sourceMappingURL=balancer-config.js.map