export {};
//# sourceMappingURL=health-policy.js.map