export {};
//# sourceMappingURL=event-source.js.map