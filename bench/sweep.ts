import { median, show } from "./figure.ts";
import type { Row } from "./row.ts";
import type { Tail } from "./weather.ts";

/** How fast checks come while nodes are swept, a second. */
export const sweepRate = 20_000;

/** The rows of a tail beside a sweep. autocannon's own pauses are in its tail: only h2load's is held to the bounds. */
export function sweepRows({ by, p99, p999, worst, answersPerSecond }: Tail, beside: string, more = ""): readonly Row[] {
  const detail = `${show(answersPerSecond)} answers/s, worst ${show(worst)} ms${more}`;
  const row = (what: string, figure: number, atMost: number): Row => ({
    name: `${what} in ms at ${show(sweepRate)}/s, ${beside} (${by})`,
    figure,
    bound: by === "h2load" ? { atMost } : null,
    detail,
  });
  return [row("p99", p99, 2), row("p99.9", p999, 10)];
}

/** The middle tail of several, figure by figure, and the worst answer of all. */
export function middleTail(tails: readonly Tail[]): Tail {
  const [first] = tails;
  if (first === undefined) throw new Error("Cannot tell the middle of tails as there must be one: there is none");
  const middle = (key: "p99" | "p999" | "answersPerSecond" | "failures"): number =>
    median(tails.map((each) => each[key]));
  return {
    by: first.by,
    p99: middle("p99"),
    p999: middle("p999"),
    worst: Math.max(...tails.map(({ worst }) => worst)),
    answersPerSecond: middle("answersPerSecond"),
    failures: middle("failures"),
  };
}
