/** The explanation of a cluster as a running rolecall serves it, with a reason that this version does not know. */
export const clusterExplanation = {
    cluster: "demo",
    check: "/replica",
    fit: false,
    reason: "none_fit",
    node: null,
    nodes: [
        {
            node: "pg1",
            fit: false,
            reason: "wrong_role",
            detail: "primary",
            decisive: "role",
            rules: [
                {
                    rule: "role",
                    outcome: "refuse",
                    value: "primary",
                    limit: "replica",
                    age_ms: 420,
                    source: "GET /leader of pg1",
                    reason: "wrong_role",
                },
            ],
        },
        { node: "pg2-with-a-longer-name", fit: true, reason: null, detail: null, decisive: null, rules: [] },
        { node: "db\u001b[31m3", fit: false, reason: "from_the_future", detail: "12MB", decisive: "new", rules: [] },
    ],
};
//# sourceMappingURL=cluster-explanation.js.map