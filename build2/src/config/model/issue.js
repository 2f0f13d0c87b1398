/** Returns an issue for a value that is not allowed. */
export function valueIssue(path, found, allowed) {
    return { path, found: describeFound(found), allowed, message: null, isKey: false };
}
/** Formats a path as `clusters[0].nodes[1].api`; the root as an empty string. Unusual keys are quoted and shortened. */
export function formatPath(path) {
    let text = "";
    for (const step of path) {
        if (typeof step === "number")
            text += `[${step}]`;
        else if (!/^[\w-]{1,64}$/.test(step))
            text += `[${JSON.stringify(step.slice(0, 64))}]`;
        else
            text += text === "" ? step : `.${step}`;
    }
    return text;
}
const lengthMax = 80;
/** Describes a value so that it is safe in a log: bounded, on one line, without user and password of a URL. */
export function describeFound(value) {
    if (value === undefined)
        return "nothing";
    if (value === null)
        return "null";
    if (Array.isArray(value))
        return value.length === 0 ? "an empty list" : `a list of ${value.length}`;
    if (typeof value === "object")
        return "a mapping";
    if (typeof value === "number" || typeof value === "boolean")
        return String(value);
    if (typeof value !== "string")
        return `a ${typeof value}`;
    const masked = value.slice(0, 1000).replaceAll(/\/\/\S*@/g, "//***@");
    return JSON.stringify(masked.length > lengthMax ? `${masked.slice(0, lengthMax)}…` : masked);
}
/** Whether a value is a mapping, so neither a list nor `null`. */
export function isMapping(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
//# sourceMappingURL=issue.js.map