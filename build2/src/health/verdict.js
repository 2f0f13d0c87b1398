export const fit = { fit: true, isDegraded: false, validUntilMs: Infinity };
export const degraded = { fit: true, isDegraded: true, validUntilMs: Infinity };
/** Refuses, until something is recorded. @param figure one that time alone does not change */
export function unfit(reason, figure = null) {
    return { fit: false, reason, figure, isFigureTimed: false, validUntilMs: Infinity };
}
/** Refuses with a figure that changes with time alone. */
export function unfitWithAge(reason, figure) {
    return { fit: false, reason, figure, isFigureTimed: true, validUntilMs: Infinity };
}
/**
 * Limits how long a verdict is valid, for one that also depends on a condition that changes at an instant.
 * @param untilMs ms of rolecall's clock
 * @returns the verdict itself where it is valid no longer than that
 */
export function validUntil(verdict, untilMs) {
    if (verdict.validUntilMs <= untilMs)
        return verdict;
    if (verdict.fit)
        return { fit: true, isDegraded: verdict.isDegraded, validUntilMs: untilMs };
    const { reason, figure, isFigureTimed } = verdict;
    return { fit: false, reason, figure, isFigureTimed, validUntilMs: untilMs };
}
/** A yes where both rules say yes: the second is applied only where the first passes. */
export function andThen(first, second) {
    return first.fit ? validUntil(second(), first.validUntilMs) : first;
}
/** A yes where either rule says yes: the second is applied only where the first refuses. */
export function orElse(first, second) {
    return first.fit ? first : validUntil(second(), first.validUntilMs);
}
//# sourceMappingURL=verdict.js.map