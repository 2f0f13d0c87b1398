/** What a hint announces: `promote`: the node is about to lead, or leads now. `stop`: the node's database stops. */
export const hintEvents = ["promote", "stop"];
//# sourceMappingURL=hint.js.map