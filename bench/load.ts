/** Load on a server: as many questions as it answers, or a fixed number a second. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { find } from "./machine.ts";
import { Started } from "./started.ts";

/** One question, asked again and again. */
export interface Storm {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  /** A new connection for each question, as probes that do not keep theirs. */
  readonly isNew?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Several targets, asked in turn in place of the url's own; wrk only. */
  readonly script?: string;
  /** Reads the status of every answer, which costs wrk some of its speed; not together with a script. */
  readonly readsStatuses?: boolean;
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

/** The program that makes storms here. */
export function stormMaker(): "wrk" | "autocannon" {
  return find("wrk") === undefined ? "autocannon" : "wrk";
}

/** Asks as fast as answers come: wrk where it is installed, else autocannon. */
export function storm(asked: Storm): Promise<Weather> {
  return stormMaker() === "wrk" ? byWrk(asked) : byAutocannon(asked);
}

/** wrk tells only how many answers were not 2xx or 3xx; this has it count by status. Its globals are one thread's, read through `get`. */
const statusScript = `local threads = {}
setup = function(thread) table.insert(threads, thread) end
init = function() strange = 0 end
response = function(status) if status ~= 503 and (status < 200 or status > 299) then strange = strange + 1 end end
done = function()
  local sum = 0
  for _, thread in ipairs(threads) do sum = sum + thread:get("strange") end
  io.write("Strange: " .. sum .. "\\n")
end
`;

async function byWrk({ readsStatuses = false, ...asked }: Storm): Promise<Weather> {
  if (!readsStatuses) return blowByWrk(asked);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  const script = join(folder, "statuses.lua");
  writeFileSync(script, statusScript);
  try {
    return await blowByWrk({ ...asked, script });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function blowByWrk({ url, seconds, connections, isNew = false, headers = {}, script }: Storm): Promise<Weather> {
  const all = { ...headers, ...(isNew ? { Connection: "close" } : {}) };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const how = ["-t1", `-c${connections}`, `-d${seconds}s`, ...(script === undefined ? [] : ["-s", script]), ...flags];
  const said = await output(["wrk", ...how, url]);
  const count = (pattern: RegExp): number => (pattern.exec(said) ?? []).slice(1).reduce((sum, each) => sum + Number(each), 0);
  const unanswered = count(/Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/);
  return {
    answersPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(said)?.[1]),
    failures: count(/Non-2xx or 3xx responses: (\d+)/) + unanswered,
    unanswered,
    strange: count(/Strange: (\d+)/),
  };
}

async function byAutocannon({ url, seconds, connections, isNew = false, headers = {} }: Storm): Promise<Weather> {
  const flags = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}=${value}`]);
  const how = ["-c", `${connections}`, "-d", `${seconds}`, ...(isNew ? ["-D", "1"] : []), ...flags];
  const result = JSON.parse(await output([process.execPath, autocannon(), "--json", ...how, url])) as {
    readonly requests: { readonly average: number };
    readonly non2xx: number;
    readonly errors: number;
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
  };
  const { non2xx, errors: unanswered, statusCodeStats } = result;
  const strange = non2xx - (statusCodeStats["503"]?.count ?? 0);
  return { answersPerSecond: result.requests.average, failures: non2xx + unanswered, unanswered, strange };
}

/** A fixed number of questions a second, whether or not answers come: the latencies of all of them, in ms, and what made them. */
export interface Tail {
  readonly by: "h2load" | "autocannon";
  readonly p99: number;
  readonly p999: number;
  readonly worst: number;
  readonly answersPerSecond: number;
}

/**
 * Asks at a fixed rate. autocannon runs everywhere and corrects for questions it could not send in time, but its tail holds its own pauses;
 * h2load's does not. Enough connections share the rate that no answer short of 50 ms delays the next question of its own.
 */
export async function tails(url: string, { rate, seconds }: { readonly rate: number; readonly seconds: number }): Promise<readonly Tail[]> {
  const found = [await tailByAutocannon(url, rate, seconds)];
  if (find("h2load") !== undefined) found.push(await tailByH2load(url, rate, seconds));
  return found;
}

/** Asks at a fixed rate once, by the better of the two that is here: to hold two of its tails against each other. */
export function tail(url: string, { rate, seconds }: { readonly rate: number; readonly seconds: number }): Promise<Tail> {
  return find("h2load") === undefined ? tailByAutocannon(url, rate, seconds) : tailByH2load(url, rate, seconds);
}

async function tailByAutocannon(url: string, rate: number, seconds: number): Promise<Tail> {
  const how = ["-c", "100", "-d", `${seconds}`, "-R", `${rate}`, "--json"];
  const { latency, requests } = JSON.parse(await output([process.execPath, autocannon(), ...how, url])) as {
    readonly latency: { readonly p99: number; readonly p99_9: number; readonly max: number };
    readonly requests: { readonly average: number };
  };
  return { by: "autocannon", p99: latency.p99, p999: latency.p99_9, worst: latency.max, answersPerSecond: requests.average };
}

async function tailByH2load(url: string, rate: number, seconds: number): Promise<Tail> {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  const log = join(folder, "answers");
  const connections = Math.ceil(rate / 20);
  try {
    await output(["h2load", "--h1", "-t1", `-c${connections}`, `-D${seconds}`, "--warm-up-time=1", "--rps=20", `--log-file=${log}`, url]);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const took = new Float64Array(lines.map((line) => Number(line.split("\t")[2]) / 1_000)).sort();
    const at = (q: number): number => took[Math.min(took.length - 1, Math.floor(q * took.length))] ?? Number.NaN;
    return { by: "h2load", p99: at(0.99), p999: at(0.999), worst: at(1), answersPerSecond: took.length / seconds };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function output(command: readonly string[]): Promise<string> {
  const started = await Started.start({ command, core: "load" });
  return started.rest();
}

function autocannon(): string {
  return createRequire(import.meta.url).resolve("autocannon/autocannon.js");
}
