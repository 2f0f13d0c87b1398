/** The load that a benchmark puts on a server, and its results. */
/** On a busy machine one request in a thousand may fail. */
const failuresShareMax = 0.001;
/** Below this share of the requested rate the latencies are those of another rate. */
const rateShareMin = 0.9;
/** Returns the result. Throws an Error if so many requests failed that the result measures failures. */
export function checkLoadResult(result, { url, seconds, fatal = "all" }) {
    const answers = result.answersPerSecond * seconds;
    if (!(answers > 0))
        throw new Error(`Cannot measure ${url}: it must answer, got no answer`);
    const { failures, unanswered } = result;
    const counted = { all: failures, statuses: failures - unanswered, none: 0 }[fatal];
    if (counted > answers * failuresShareMax)
        throw new Error(`Cannot measure ${url}: requests must be answered 2xx, got ${failures - unanswered} other answers and ${unanswered} ` +
            `requests without an answer, beside ${Math.round(answers)} answers`);
    return result;
}
/** Returns the result. Throws an Error if requests failed or the rate was not reached. */
export function checkLatencyResult(tail, url, { rate, seconds }) {
    if (!(tail.answersPerSecond >= rate * rateShareMin))
        throw new Error(`Cannot measure the latency of ${url}: ${rate} requests per second must be answered, ` +
            `got ${Math.round(tail.answersPerSecond)} (${tail.by}, p99 ${tail.p99} ms)`);
    if (tail.failures > rate * seconds * failuresShareMax)
        throw new Error(`Cannot measure the latency of ${url}: requests must be answered 2xx, got ${tail.failures} failures (${tail.by})`);
    return tail;
}
//# sourceMappingURL=load-result.js.map