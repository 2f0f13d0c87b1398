const pattern = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/;
/**
 * Parses ISO 8601 as management calls use it: `2026-11-21T06:53+01`, `2026-11-21 06:53:47.25Z`. Returns `undefined` if
 * invalid.
 */
export function parseInstant(text) {
    const match = pattern.exec(text.trim());
    if (match === null)
        return undefined;
    const [, day = "", time = "00:00", zone] = match;
    const atMs = Date.parse(`${day}T${time}${zone === undefined || zone === "Z" ? "Z" : fullZone(zone)}`);
    return Number.isNaN(atMs) ? undefined : { atMs, hasZone: zone !== undefined };
}
/** Expands `+01` and `+0130` to `+01:00` and `+01:30`. */
function fullZone(zone) {
    const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
    return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
//# sourceMappingURL=timestamp.js.map