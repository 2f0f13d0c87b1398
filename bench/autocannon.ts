/** Storms and fixed rates by autocannon, which npm brings along. It waits for the body of the answer to a HEAD: no HEAD by it. */
import { createRequire } from "node:module";
import { outputOf, withFile } from "./driver.ts";
import type { Pace, Storm, Tail, Weather } from "./weather.ts";

const program = createRequire(import.meta.url).resolve("autocannon/autocannon.js");

interface Result {
  readonly latency: { readonly p99: number; readonly p99_9: number; readonly max: number };
  readonly requests: { readonly average: number };
  readonly non2xx: number;
  /** Timeouts are among them. */
  readonly errors: number;
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
}

/** Asks as fast as answers come. */
export async function stormByAutocannon(asked: Storm): Promise<Weather> {
  const { url, seconds, connections, isNew = false, targets } = asked;
  const how = ["-c", `${connections}`, "-d", `${seconds}`, ...(isNew ? ["-D", "1"] : [])];
  // It takes several questions as an archive of HTTP requests (HAR 1.2).
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

/** Asks at a fixed rate. It corrects for questions that it could not send in time, but its tail holds its own pauses. */
export async function tailByAutocannon(url: string, { rate, seconds }: Pace): Promise<Tail> {
  const { latency, requests, non2xx, errors } = await run(
    ["-c", "100", "-d", `${seconds}`, "-R", `${rate}`, url],
    seconds,
  );
  const { p99, p99_9: p999, max: worst } = latency;
  return { by: "autocannon", p99, p999, worst, answersPerSecond: requests.average, failures: non2xx + errors };
}

async function run(how: readonly string[], seconds: number): Promise<Result> {
  return JSON.parse(await outputOf([process.execPath, program, "--json", ...how], seconds)) as Result;
}
