export {};
//# sourceMappingURL=stored-events.js.map