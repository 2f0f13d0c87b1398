export {};
//# sourceMappingURL=probe-context.js.map