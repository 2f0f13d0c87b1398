import { formatLsn } from "../values/lsn.js";
/** Returns `{[key]: value}`, or `{}` if the value is the default: a short file shows better what was wrong. */
export function otherThan(key, value, ordinary) {
    return value === ordinary ? {} : { [key]: value };
}
/** Returns `{[key]: position}` for a WAL position in bytes, written as `X/X`; `{}` for `null`. */
export function position(key, value) {
    return value === null ? {} : { [key]: formatLsn(value) };
}
/**
 * Formats a duration to the microsecond: a document may be requested less than a millisecond before or after a claim
 * appears.
 */
export function incidentDuration(ms) {
    return `${Math.round(ms * 1000) / 1000}ms`;
}
//# sourceMappingURL=incident-yaml.js.map