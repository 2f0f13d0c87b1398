/** The guard: bounds wider than the promised ones. A missed bound fails the run. */
import { show } from "./statistics.js";
import { isReached, showBound } from "./table.js";
/**
 * The rows that are guarded, with the guard's bounds.
 * @throws Error if a bound names no row: it would never be checked
 */
export function underGuard(rows, bounds) {
    const broken = rows.filter((row) => "broken" in row);
    const named = Object.entries(bounds).flatMap(([name, bound]) => {
        const row = rows.find((candidate) => candidate.name === name || ("notRun" in candidate && name.startsWith(candidate.name)));
        if (row !== undefined)
            return ["figure" in row ? { ...row, bound } : { ...row, name }];
        // A broken measurement makes no rows under their own names; it is reported by itself.
        if (broken.length > 0)
            return [];
        throw new Error(`Cannot guard "${name}": bench/guard.json must name rows, got a name of no row`);
    });
    return [...named, ...broken];
}
/** One message for each missed bound and each broken row, or one if nothing was measured. */
export function complaints(guarded) {
    if (guarded.every((row) => "notRun" in row))
        return ["Cannot pass the guard: at least one row must be measured, got none"];
    return guarded.filter((row) => !isReached(row)).map(complaint);
}
function complaint(row) {
    if ("figure" in row)
        return `Cannot pass the guard: "${row.name}" must be ${showBound(row.bound)}, got ${show(row.figure)} (${row.detail})`;
    return `Cannot pass the guard: "${row.name}" must be measured, got: ${"broken" in row ? row.broken : row.notRun}`;
}
//# sourceMappingURL=guard.js.map