export const schemaVersion = "cli.result/v1";
//# sourceMappingURL=document.js.map