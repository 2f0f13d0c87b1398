import { measureLatency } from "./load.ts";
import type { Core } from "./machine.ts";
import { startNginx } from "./peers.ts";
import { pause } from "./rolecall.ts";
import { interleave, type Row, type Rounds } from "./row.ts";
import { median, show } from "./statistics.ts";
import type { LatencyResult } from "./load-result.ts";

/** Checks per second during a sweep of probes. */
export const sweepRate = 20_000;
/** How long probes warm up a new process, which still compiles its code, in ms. */
const warmMs = 5_000;

/** A side of a comparison, measured in turn with the other one. */
export type Side = "rolecall" | "nginx";

/** How rolecall is compared with nginx. */
export interface NginxComparison {
  readonly rounds: Rounds;
  /** Where nginx runs. */
  readonly core: Core;
  /** Is called for each measurement of each side. It must run the load once. */
  readonly around: (side: Side, load: () => Promise<LatencyResult>) => Promise<LatencyResult>;
}

/**
 * The latencies of each round at 20,000 checks a second, and those of nginx in the place of what answers: what probes
 * goes on beside it, so nginx shows the lowest latency possible here. None if nginx is not installed.
 * @param url of a check; nginx answers with the same body
 */
export async function latenciesAgainstNginx(
  url: string,
  { rounds, core, around }: NginxComparison,
): Promise<Readonly<Record<Side, readonly LatencyResult[]>>> {
  const nginx = await startNginx(await (await fetch(url)).text(), core);
  try {
    await pause(warmMs);
    const urls = "notRun" in nginx ? [url] : [url, nginx.url];
    const [rolecall = [], theirs = []] = await interleave(
      rounds,
      urls.map(
        (each) => (seconds: number) =>
          around(each === url ? "rolecall" : "nginx", () => measureLatency(each, { rate: sweepRate, seconds })),
      ),
    );
    return { rolecall, nginx: theirs };
  } finally {
    if (!("notRun" in nginx)) await nginx.stop();
  }
}

/** Writes two latencies of nginx in the same place. */
export function showNginx(tails: readonly { readonly p99: number; readonly p999: number }[]): string {
  if (tails.length === 0) return "nginx not run";
  const middle = (key: "p99" | "p999"): string => show(median(tails.map((each) => each[key])));
  return `nginx in its place ${middle("p99")} / ${middle("p999")} ms`;
}

/**
 * The latency rows beside a sweep. Only the latencies of h2load are checked: those of autocannon include its own
 * pauses.
 */
export function sweepRows(
  { by, p99, p999, worst, answersPerSecond }: LatencyResult,
  beside: string,
  more = "",
): readonly Row[] {
  const detail = `${show(answersPerSecond)} answers/s, worst ${show(worst)} ms${more}`;
  const row = (what: string, figure: number, atMost: number): Row => ({
    name: `${what} in ms at ${show(sweepRate)}/s, ${beside} (${by})`,
    figure,
    bound: by === "h2load" ? { atMost } : null,
    detail,
  });
  return [row("p99", p99, 2), row("p99.9", p999, 10)];
}

/** The median of each figure, and the worst answer of all. */
export function medianLatency(tails: readonly LatencyResult[]): LatencyResult {
  const [first] = tails;
  if (first === undefined) throw new Error("Cannot compute a median: at least one result must be given, got none");
  const middle = (key: "p99" | "p999" | "answersPerSecond" | "failures"): number =>
    median(tails.map((each) => each[key]));
  return {
    by: first.by,
    p99: middle("p99"),
    p999: middle("p999"),
    worst: Math.max(...tails.map(({ worst }) => worst)),
    worstSecond: null,
    answersPerSecond: middle("answersPerSecond"),
    failures: middle("failures"),
  };
}
