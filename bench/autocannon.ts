/** Load by autocannon, a development dependency. It waits for the body of an answer to HEAD, so it sends none. */
import { createRequire } from "node:module";
import { outputOf, withFile } from "./driver.ts";
import type { FixedRate, Load, LatencyResult, LoadResult } from "./load-result.ts";

const program = createRequire(import.meta.url).resolve("autocannon/autocannon.js");

interface Result {
  readonly latency: { readonly p99: number; readonly p99_9: number; readonly max: number };
  readonly requests: { readonly average: number };
  readonly non2xx: number;
  /** Timeouts are among them. */
  readonly errors: number;
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
}

/** Sends requests at full speed. */
export async function loadByAutocannon(asked: Load): Promise<LoadResult> {
  const { url, seconds, connections, isNew = false, targets } = asked;
  const how = ["-c", `${connections}`, "-d", `${seconds}`, ...(isNew ? ["-D", "1"] : [])];
  // autocannon reads several requests from an HTTP archive (HAR 1.2).
  const entries = (targets ?? []).map(({ method, path }) => ({
    request: { method, url: new URL(path, url).href, headers: [] },
  }));
  const result =
    entries.length === 0
      ? await run([...how, url], seconds)
      : await withFile(JSON.stringify({ log: { entries } }), (file) => run([...how, "--har", file, url], seconds));
  const { non2xx, errors: unanswered, statusCodeStats } = result;
  const strange = non2xx - (statusCodeStats["503"]?.count ?? 0);
  return { answersPerSecond: result.requests.average, failures: non2xx + unanswered, unanswered, strange };
}

/**
 * Sends requests at a fixed rate. It corrects for requests that it sent late, but its own pauses add to the latencies.
 */
export async function latencyByAutocannon(url: string, { rate, seconds }: FixedRate): Promise<LatencyResult> {
  const { latency, requests, non2xx, errors } = await run(
    ["-c", "100", "-d", `${seconds}`, "-R", `${rate}`, url],
    seconds,
  );
  const { p99, p99_9: p999, max: worst } = latency;
  return {
    by: "autocannon",
    p99,
    p999,
    worst,
    worstSecond: null,
    answersPerSecond: requests.average,
    failures: non2xx + errors,
  };
}

async function run(how: readonly string[], seconds: number): Promise<Result> {
  return JSON.parse(await outputOf([process.execPath, program, "--json", ...how], seconds)) as Result;
}
