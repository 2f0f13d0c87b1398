import { parseHostPort } from "../values/address.js";
import { describeFound } from "../model/issue.js";
import { didYouMean } from "./did-you-mean.js";
import { namedProblem } from "../model/problem.js";
import { renamedTo } from "./renamed-keys.js";
/**
 * Converts the text of a flag or variable to the value in the file. Leaves an invalid text as it is, for the schema
 * to reject.
 */
export function readOverride(text, { kind, nullable }) {
    if (nullable && (text === "" || text === "null"))
        return null;
    switch (kind) {
        case "number":
            return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
        case "boolean":
            return text === "true" ? true : text === "false" ? false : text;
        case "list":
            return splitList(text);
        case "text":
            return text;
    }
}
/** Splits `a,b`. The empty text gives the empty list. */
export function splitList(text) {
    return text.trim() === "" ? [] : text.split(",").map((part) => part.trim());
}
/** Parses the `host:port` texts of the flag or variable `name`. Adds a problem to `problems` for each invalid one. */
export function readListen(texts, { name, problems }) {
    const allowed = "host:port, such as 127.0.0.1:8008 or [::1]:8008, or several separated by commas";
    const value = [];
    for (const text of texts.length === 0 ? [""] : texts) {
        const address = parseHostPort(text);
        if (address === undefined)
            problems.push(namedProblem(name, { found: describeFound(text), allowed, message: null }));
        else
            value.push({ address: address.host, port: address.port });
    }
    return { value, name };
}
/** Returns the problem with a given name that is not one of `known`. `where` is the flag or variable, for messages. */
export function unknownName(where, { given, known }) {
    const allowed = `one of ${known.join(", ")}`;
    const renamed = renamedTo(given, known);
    if (renamed !== null)
        return namedProblem(where, { found: describeFound(given), allowed, message: `was renamed: use ${renamed}` });
    const near = didYouMean(given, known);
    const message = near === null ? `is not known: must be ${allowed}` : `is not known: did you mean ${near}?`;
    return namedProblem(where, { found: describeFound(given), allowed, message });
}
//# sourceMappingURL=overrides.js.map