export {};
//# sourceMappingURL=alert-rule.js.map