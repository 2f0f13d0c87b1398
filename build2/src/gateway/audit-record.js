export {};
//# sourceMappingURL=audit-record.js.map