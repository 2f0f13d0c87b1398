import { countOf } from "../values/json.js";
/** Parses a history document. Returns `undefined` if it is no list. Invalid rows are ignored. */
export function parseHistory(value) {
    if (!Array.isArray(value))
        return undefined;
    const points = new Map();
    for (const row of value) {
        if (!Array.isArray(row))
            continue;
        const timeline = countOf(row[0]);
        const position = countOf(row[1]);
        if (timeline !== null && position !== null)
            points.set(timeline, position);
    }
    return points;
}
//# sourceMappingURL=history.js.map