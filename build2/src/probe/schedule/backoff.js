/** Returns the back-off after one more failure. */
export function afterFailure(backoff) {
    return { ...backoff, failures: backoff.failures + 1 };
}
/** Returns the back-off after a success: no delay. */
export function afterSuccess(backoff) {
    return backoff.failures === 0 ? backoff : { ...backoff, failures: 0 };
}
/** Returns the delay before the next attempt, in ms; 0 without a failure. */
export function backoffMs({ firstMs, maxMs, failures }) {
    return failures <= 0 ? 0 : Math.min(maxMs, firstMs * 2 ** (failures - 1));
}
//# sourceMappingURL=backoff.js.map