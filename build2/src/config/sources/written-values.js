import { isMapping } from "../model/issue.js";
/** Parses a value of the file. @returns `undefined` if it is invalid */
export function readValue(schema, value) {
    const read = schema.safeParse(value);
    return read.success ? read.data : undefined;
}
/** @returns the value if it is a text */
export function textOf(value) {
    return typeof value === "string" ? value : undefined;
}
/** Whether a value is written: neither missing nor `null`. */
export function isPresent(value) {
    return value !== undefined && value !== null;
}
/** The fields of a mapping; none of anything else. */
export function fieldsOf(value) {
    return isMapping(value) ? value : {};
}
/** The first 1,000 elements of a list; none of anything else. */
export function elementsOf(value) {
    return Array.isArray(value) ? value.slice(0, 1000) : [];
}
//# sourceMappingURL=written-values.js.map