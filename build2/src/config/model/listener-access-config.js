/** The default: checks only, from every client, with limits that no load balancer reaches. */
export const unrestrictedAccess = {
    management: false,
    readOnly: false,
    tls: null,
    auth: null,
    hintTokens: [],
    allow: null,
    allowFor: "all",
    trustedOrigins: [],
    limits: {
        connections: 16_384,
        connectionsPerAddress: 4_096,
        headerTimeoutMs: 10_000,
        requestTimeoutMs: 30_000,
        idleTimeoutMs: 120_000,
        pipelined: 256,
        bodyMax: 1_048_576,
        callsInFlight: 4,
        callTimeoutMs: 600_000,
        fetches: 2,
    },
};
//# sourceMappingURL=listener-access-config.js.map