/** A leader's row in a cluster document, as Patroni writes it. */
export const leaderRow = {
    name: "pg1",
    role: "leader",
    state: "running",
    api_url: "http://10.0.0.1:8008/patroni",
    host: "10.0.0.1",
    port: 5432,
    timeline: 3,
};
//# sourceMappingURL=leader-row.js.map