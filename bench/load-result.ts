/** The load that a benchmark puts on a server, and its results. */

/** A request of a mixed load. */
export interface LoadRequest {
  readonly method: "GET" | "HEAD" | "OPTIONS";
  readonly path: string;
}

/** Requests sent as fast as the answers arrive. */
export interface Load {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** Opens a new connection for each request, as a probe without keep-alive does. */
  readonly isNew?: boolean;
  /**
   * Requested in turn on each connection, instead of the path of `url`. Not together with `isNew` or `readsStatuses`.
   */
  readonly targets?: readonly LoadRequest[];
  /** Reads the status of every answer, which costs wrk some of its speed. */
  readonly readsStatuses?: boolean;
  /**
   * Which failures invalidate the result if they exceed one in a thousand: `all` by default; `statuses` for a server
   * that ends an answer by closing, as a real Patroni node does (wrk counts that as a read error); `none` if the row
   * counts them itself.
   */
  readonly fatal?: "all" | "statuses" | "none";
}

/** The result of a load. */
export interface LoadResult {
  readonly answersPerSecond: number;
  /** Answers other than 2xx, and requests without an answer. */
  readonly failures: number;
  /** Requests without an answer: refused, reset or timed out. */
  readonly unanswered: number;
  /** Answers other than 2xx and 503. wrk counts them only with `readsStatuses`; otherwise this is 0. */
  readonly strange: number;
}

/** Latencies at a fixed rate of requests, in ms, and the program that measured them. */
export interface LatencyResult {
  readonly by: "h2load" | "autocannon";
  readonly p99: number;
  readonly p999: number;
  readonly worst: number;
  /** The same of the second that was worst for each. `null` if the program states no time of each request. */
  readonly worstSecond: { readonly p99: number; readonly p999: number } | null;
  readonly answersPerSecond: number;
  /** Answers other than 2xx, and requests without an answer. */
  readonly failures: number;
}

/** A fixed rate of requests, and for how long. */
export interface FixedRate {
  /** Requests per second. */
  readonly rate: number;
  readonly seconds: number;
}

/** On a busy machine one request in a thousand may fail. */
const failuresShareMax = 0.001;
/** Below this share of the requested rate the latencies are those of another rate. */
const rateShareMin = 0.9;

/** Returns the result. Throws an Error if so many requests failed that the result measures failures. */
export function checkLoadResult(result: LoadResult, { url, seconds, fatal = "all" }: Load): LoadResult {
  const answers = result.answersPerSecond * seconds;
  if (!(answers > 0)) throw new Error(`Cannot measure ${url}: it must answer, got no answer`);
  const { failures, unanswered } = result;
  const counted = { all: failures, statuses: failures - unanswered, none: 0 }[fatal];
  if (counted > answers * failuresShareMax)
    throw new Error(
      `Cannot measure ${url}: requests must be answered 2xx, got ${failures - unanswered} other answers and ${unanswered} ` +
        `requests without an answer, beside ${Math.round(answers)} answers`,
    );
  return result;
}

/** Returns the result. Throws an Error if requests failed or the rate was not reached. */
export function checkLatencyResult(tail: LatencyResult, url: string, { rate, seconds }: FixedRate): LatencyResult {
  if (!(tail.answersPerSecond >= rate * rateShareMin))
    throw new Error(
      `Cannot measure the latency of ${url}: ${rate} requests per second must be answered, ` +
        `got ${Math.round(tail.answersPerSecond)} (${tail.by}, p99 ${tail.p99} ms)`,
    );
  if (tail.failures > rate * seconds * failuresShareMax)
    throw new Error(
      `Cannot measure the latency of ${url}: requests must be answered 2xx, got ${tail.failures} failures (${tail.by})`,
    );
  return tail;
}
