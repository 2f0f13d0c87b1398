export {};
//# sourceMappingURL=dcs-source.js.map