export {};
//# sourceMappingURL=handler.js.map