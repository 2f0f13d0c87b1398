/** What a server is asked, and how it stood that. */

/** A question of a mixed storm. */
export interface Target {
  readonly method: "GET" | "HEAD" | "OPTIONS";
  readonly path: string;
}

/** Questions asked as fast as answers come. */
export interface Storm {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** A new connection for each question, as probes that do not keep theirs. */
  readonly isNew?: boolean;
  /** Asked in turn on each connection, in place of the url's own path; not together with `isNew` or `readsStatuses`. */
  readonly targets?: readonly Target[];
  /** Reads the status of every answer, which costs wrk some of its speed. */
  readonly readsStatuses?: boolean;
  /**
   * Which failures make the storm tell nothing, where they are more than one in a thousand: `all` by default; `statuses` of a server that ends
   * its answers by closing, as a real Patroni node does and wrk calls an error of reading; `none` where the row itself counts them.
   */
  readonly fatal?: "all" | "statuses" | "none";
}

/** How a storm went. */
export interface Weather {
  readonly answersPerSecond: number;
  /** Answers other than 2xx, and questions without one. */
  readonly failures: number;
  /** How many questions were left without an answer: refused, reset or too late. */
  readonly unanswered: number;
  /** How many answers were neither 2xx nor 503. By wrk they are known only where `readsStatuses`, else it is 0. */
  readonly strange: number;
}

/** A fixed number of questions a second, whether or not answers come: the latencies of all of them, in ms, and what made them. */
export interface Tail {
  readonly by: "h2load" | "autocannon";
  readonly p99: number;
  readonly p999: number;
  readonly worst: number;
  readonly answersPerSecond: number;
  /** Answers other than 2xx, and questions without one. */
  readonly failures: number;
}

/** How fast to ask, and how long. */
export interface Pace {
  /** Questions a second. */
  readonly rate: number;
  readonly seconds: number;
}

/** One question in a thousand may go wrong on a busy machine. */
const failuresShareMax = 0.001;
/** A tail below this share of its rate is another rate's. */
const rateShareMin = 0.9;

/** @throws Error when so many questions failed that the speed is that of failing */
export function soundWeather(weather: Weather, { url, seconds, fatal = "all" }: Storm): Weather {
  const answers = weather.answersPerSecond * seconds;
  if (!(answers > 0)) throw new Error(`Cannot measure ${url} as it must be answered: no answer came`);
  const { failures, unanswered } = weather;
  const counted = { all: failures, statuses: failures - unanswered, none: 0 }[fatal];
  if (counted > answers * failuresShareMax)
    throw new Error(
      `Cannot measure ${url} as its questions must be answered 2xx: of ${Math.round(answers)}, ${failures - unanswered} were answered otherwise, ${unanswered} not at all`,
    );
  return weather;
}

/** @throws Error when questions failed, or so few were asked that the tail is that of a lower rate */
export function soundTail(tail: Tail, url: string, { rate, seconds }: Pace): Tail {
  if (!(tail.answersPerSecond >= rate * rateShareMin))
    throw new Error(
      `Cannot measure the tail of ${url} as ${rate} questions a second must be answered: ${Math.round(tail.answersPerSecond)} were (${tail.by}, p99 ${tail.p99} ms)`,
    );
  if (tail.failures > rate * seconds * failuresShareMax)
    throw new Error(
      `Cannot measure the tail of ${url} as its questions must be answered 2xx: ${tail.failures} were not (${tail.by})`,
    );
  return tail;
}
