export {};
//# sourceMappingURL=listener-events.js.map