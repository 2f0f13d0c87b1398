import { describeFound, valueIssue } from "../model/issue.js";
import { didYouMean } from "./did-you-mean.js";
import { keysAt } from "./override-keys.js";
import { renamedTo } from "./renamed-keys.js";
/**
 * Converts the errors of a schema to issues. The schema's messages say what is allowed.
 * @param value the input that the schema rejected
 * @param allowedKeys returns the keys of the mapping at a path; by default those of the configuration
 */
export function shapeIssues(error, value, allowedKeys = keysAt) {
    return error.issues.flatMap((issue) => {
        const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
        if (issue.code === "unrecognized_keys")
            return issue.keys.map((key) => unknownKey([...path, key], allowedKeys(path)));
        // A user may write the password itself in place of the hash: it must not get into a log.
        const isSecret = path.at(-1) === "scrypt" && valueAt(value, path) !== undefined;
        const found = valueIssue(path, valueAt(value, path), issue.message);
        return [isSecret ? { ...found, found: "another value (not shown)" } : found];
    });
}
function unknownKey(path, keys) {
    const key = String(path.at(-1));
    const allowed = `one of ${keys.join(", ")}`;
    const renamed = renamedTo(key, keys);
    if (renamed !== null)
        return { path, found: describeFound(key), allowed, message: `was renamed: use ${renamed}`, isKey: true };
    const near = didYouMean(key, keys);
    const hint = near === null ? `must be ${allowed}` : `did you mean ${near}?`;
    return { path, found: describeFound(key), allowed, message: `is not a known key: ${hint}`, isKey: true };
}
function valueAt(value, path) {
    let current = value;
    for (const step of path) {
        if (typeof current !== "object" || current === null)
            return undefined;
        current = new Map(Object.entries(current)).get(String(step));
    }
    return current;
}
//# sourceMappingURL=shape-issues.js.map