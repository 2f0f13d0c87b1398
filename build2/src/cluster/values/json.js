/** Parses JSON text. Returns `undefined` if it is invalid. Never throws. */
export function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
/**
 * Adds a member at the end of a JSON object.
 * @param object an object as JSON text without white space around it, as `JSON.stringify` writes it
 * @param key a name that needs no escaping; one that the object does not have yet
 * @param value the member's value as JSON text
 */
export function withMember(object, key, value) {
    return object === "{}" ? `{"${key}":${value}}` : `${object.slice(0, -1)},"${key}":${value}}`;
}
/** Whether a value is an object, and neither `null` nor an array. */
export function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
/** Returns a string of at most `longest` printable characters, safe in headers and logs; else `null`. */
export function nameOf(value, longest = 256) {
    // oxlint-disable-next-line no-control-regex -- control characters are what it rejects
    return typeof value === "string" && value.length <= longest && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(value)
        ? value
        : null;
}
/** Returns a whole number from 0 to 2^53 - 1; else `null`. */
export function countOf(value) {
    return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
/** Returns a list as it is, and an empty list for every other value. */
export function listOf(value) {
    return Array.isArray(value) ? value : [];
}
//# sourceMappingURL=json.js.map