/** Fixed rates by h2load (package nghttp2-client), which adds no tail latency of its own. */
import { readFileSync } from "node:fs";
import { outputOf, withFile } from "./driver.ts";
import { mayRunFirst } from "./machine.ts";
import type { FixedRate, LatencyResult } from "./load-result.ts";
import { quantile } from "./statistics.ts";

/**
 * Requests per second on one connection: no answer faster than 10 ms delays the next request. With fewer on more
 * connections, which h2load starts together, all simultaneous requests would arrive in one burst.
 */
const ratePerConnection = 100;

/** Sends requests at a fixed rate. */
export function latencyByH2load(url: string, { rate, seconds }: FixedRate): Promise<LatencyResult> {
  return withFile("", async (log) => {
    const connections = Math.ceil(rate / ratePerConnection);
    const how = ["--h1", "-t1", `-c${connections}`, `-D${seconds}`, "--warm-up-time=1", `--rps=${ratePerConnection}`];
    await outputOf([...withPriority(), "h2load", ...how, `--log-file=${log}`, url], seconds);
    return readH2load(readFileSync(log, "utf8"), seconds);
  });
}

/** Real-time priority where allowed: the latencies must not include the wait of the load program for its core. */
function withPriority(): readonly string[] {
  return mayRunFirst() ? ["chrt", "--fifo", "1"] : [];
}

/**
 * Reads the log of h2load. Each line holds an answer: start time in microseconds, status (-1 for none), duration in
 * microseconds (h2load(1), --log-file).
 */
export function readH2load(log: string, seconds: number): LatencyResult {
  const answers = log.split("\n").filter(Boolean);
  const columns = answers.map((line) => line.split("\t"));
  const startedUs = columns.map((column) => Number(column[0]));
  const firstUs = startedUs.reduce((first, each) => Math.min(first, each), Infinity);
  const tookMs = columns.map((column) => Number(column[2]) / 1_000);
  const bySecond: number[][] = Array.from({ length: seconds }, () => []);
  for (const [at, ms] of tookMs.entries())
    bySecond[Math.min(seconds - 1, Math.floor(((startedUs[at] ?? 0) - firstUs) / 1e6))]?.push(ms);
  const worstOf = (q: number): number => Math.max(...bySecond.map((each) => quantile(each, q)).filter(Number.isFinite));
  const failures = columns.filter((column) => !/^2\d\d$/.test(column[1] ?? "")).length;
  return {
    by: "h2load",
    p99: quantile(tookMs, 0.99),
    p999: quantile(tookMs, 0.999),
    worst: quantile(tookMs, 1),
    worstSecond: { p99: worstOf(0.99), p999: worstOf(0.999) },
    answersPerSecond: tookMs.length / seconds,
    failures,
  };
}
