export {};
//# sourceMappingURL=incoming-call.js.map