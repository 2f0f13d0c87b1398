/** The longest drain, in ms: thirty days. For longer use the node's own tags. */
export const drainMsMax = 30 * 86_400_000;
/** The longest reason, and the longest operator name, in characters. */
export const drainTextMax = 200;
//# sourceMappingURL=drain.js.map