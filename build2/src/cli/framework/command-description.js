export {};
//# sourceMappingURL=command-description.js.map