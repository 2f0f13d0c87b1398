export {};
//# sourceMappingURL=doctor-context.js.map