/** Reads an operator's drain of a node, or `null`, which ends a drain. */
export function drainOf(section, { atMs }) {
    if (section.isNull)
        return null;
    const value = section.mapping(["for", "reason", "by", "all"]);
    const untilMs = atMs + value("for").instant();
    const isoOf = (ms) => new Date(ms).toISOString();
    return {
        reason: value("reason").text("drained"),
        by: value("by").statement(null),
        isAll: value("all").flag(false),
        untilMs,
        since: isoOf(atMs),
        until: isoOf(untilMs),
    };
}
//# sourceMappingURL=drains.js.map