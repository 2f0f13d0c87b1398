/** Counts a promise that applies to an answer, and gives the detail when it is broken. */
export function held({ armed }, rule, isBroken, detail) {
    armed.set(rule, (armed.get(rule) ?? 0) + 1);
    return isBroken ? detail : null;
}
/** The tolerated delay of an observation: ordinary scheduling, and the stalls since an instant. */
export function slackMs({ profile, stalls }, fromMs, toMs) {
    return profile.slackMs + 2 * stalls.within(fromMs - 500, toMs + 100);
}
/** Seconds ago, for people. */
export function ago(answer, atMs) {
    return `${((answer.askedMs - atMs) / 1_000).toFixed(2)} s ago`;
}
/** A check without its parameters. */
export function routeOf(check) {
    return check.split("?")[0] ?? check;
}
/** A parameter of a check. */
export function parameterOf(check, name) {
    return new URLSearchParams(check.split("?")[1] ?? "").get(name);
}
/** Whether a status document allows a primary to be written to (design.md, rule 3). */
export function allowsPrimary(document) {
    if (document === null)
        return false;
    const { role, state } = document;
    if (role === "replica" || role === "demoted")
        return false;
    return !["stopping", "stopped", "starting", "crashed"].includes(String(state));
}
/** A short form of a request and its answer, for people. */
export function tell(served, answer) {
    if (served === undefined)
        return "none";
    const { status, path, arrivedMs, doneMs, document } = served;
    const fields = document === null ? "" : JSON.stringify(document).slice(0, 400);
    return `${path} asked ${ago(answer, arrivedMs)}, ${doneMs === null ? "no answer" : `${status} ${ago(answer, doneMs)}`} ${fields}`;
}
//# sourceMappingURL=scene.js.map