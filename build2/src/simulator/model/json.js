/** Returns whether a parsed JSON value is an object (neither null nor an array). */
export function isJsonObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
/** Parses a JSON text. Returns `undefined` if it is not JSON. */
export function parseSimulatorJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
//# sourceMappingURL=json.js.map