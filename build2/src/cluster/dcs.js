/** The state of a watch that has not read anything. */
export const unreadDcs = {
    isUp: false,
    failure: null,
    read: null,
    lastNamed: null,
    withdrawals: new Map(),
    distrust: null,
};
//# sourceMappingURL=dcs.js.map