export {};
//# sourceMappingURL=socket-listener.js.map