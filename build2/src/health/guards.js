/** The defaults of the configuration. */
export const defaultGuards = {
    exclusivePrimary: true,
    runningPrimary: true,
    attachedReplica: true,
    sameSystem: true,
    attachWindowMs: 10_000,
    demotedForMs: 60_000,
    lagSamples: 1,
    dwellMs: 0,
    handoverHoldMs: 0,
    surviveMs: 0,
};
//# sourceMappingURL=guards.js.map