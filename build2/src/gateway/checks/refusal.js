export {};
//# sourceMappingURL=refusal.js.map