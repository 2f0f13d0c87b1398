/** Makes the line of a rule that applies. */
export function ruleLine({ view, observation }, finding) {
    const of = finding.of ?? observation;
    const refusal = finding.refusal ?? null;
    return {
        rule: finding.rule,
        outcome: refusal === null ? "pass" : "refuse",
        value: finding.value,
        limit: finding.limit ?? null,
        ageMs: of.report === null ? null : Math.round(view.nowMs - of.sentAtMs),
        source: finding.source ?? reportOf(of),
        reason: refusal,
    };
}
/** The source of a node's report. */
function reportOf({ node }) {
    return node.api === null ? `GET /up of the exporter of ${node.name}` : `GET /leader of ${node.name}`;
}
/** Makes the line of a rule that does not apply. @param why why it does not apply */
export function skippedRule(rule, why) {
    return { rule, outcome: "skip", value: why, limit: null, ageMs: null, source: "", reason: null };
}
/** Formats a duration for readers, as `1.4 s`. @param ms in ms */
export function seconds(ms) {
    return `${(ms / 1000).toFixed(1)} s`;
}
//# sourceMappingURL=rule-line.js.map