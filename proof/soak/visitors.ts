import { get } from "node:http";
import { connect } from "node:net";
import type { Action } from "./plan.ts";
import type { Ports } from "./configuration.ts";

const pages = ["/status", "/events", "/explain?node=c0/pg1&check=/replica", "/incident?cluster=c0", "/", "/livez"];

/** Visits the page: streams of events that come and go, a client that stops reading, and single pages. */
export function visit({ variant, lastsMs, pick }: Action, { admin }: Ports): string {
  if (variant === "pages") {
    for (let at = 0; at < 4; at += 1) read(`http://127.0.0.1:${admin}${pages[(pick + at) % pages.length]}`);
  } else if (variant === "stream") {
    for (let at = 0; at <= pick % 3; at += 1) {
      const request = get(`http://127.0.0.1:${admin}/events/stream`, { agent: false }, (response) => {
        response.on("error", () => {}).resume();
      });
      request.on("error", () => {});
      setTimeout(() => request.destroy(), lastsMs + at * 1_000);
    }
  } else {
    const socket = connect({ port: admin, host: "127.0.0.1" });
    socket.on("error", () => {}).pause();
    socket.write("GET /events/stream HTTP/1.1\r\nHost: a\r\n\r\n");
    setTimeout(() => socket.destroy(), lastsMs * 2);
  }
  return variant;
}

/** Reads a page and throws it away. */
function read(url: string): void {
  get(url, { agent: false, timeout: 10_000 }, (response) => {
    response.on("error", () => {}).resume();
  }).on("error", () => {});
}

/** One scrape: how long the page was, how many series it had, and some counters. */
export interface Scrape {
  readonly atMs: number;
  readonly bytes: number;
  readonly series: number;
  /** How many of them name a cluster or node that the configuration at the start does not have. */
  readonly foreign: number;
  readonly contained: number;
  readonly workersLost: number;
  readonly refused: number;
  readonly applied: number;
  readonly streams: number;
}

/** Scrapes the metrics of rolecall itself, and of the node behind the exporter listener. */
export async function scrape({ admin, exporter }: Ports): Promise<Scrape> {
  const fetched = await Promise.all(
    [`http://127.0.0.1:${admin}/metrics`, `http://127.0.0.1:${exporter}/metrics`].map(async (url) => {
      const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
      return response.text();
    }),
  );
  const [own = ""] = fetched;
  const sum = (name: string): number =>
    [...own.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  const lines = own.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return {
    atMs: Date.now(),
    bytes: own.length,
    series: lines.length,
    foreign: lines.filter(isForeign).length,
    contained: sum("rolecall_contained_errors_total"),
    workersLost: sum("rolecall_workers_lost_total"),
    refused: sum('rolecall_reloads_total\\{outcome="refused"\\}'),
    applied: sum('rolecall_reloads_total\\{outcome="applied"\\}'),
    streams: sum("rolecall_streams_open"),
  };
}

/**
 * Whether a series has a label of a cluster or node that is not in the configuration at the start. A seed of a cluster
 * is counted under its address.
 */
function isForeign(line: string): boolean {
  const labels = line.matchAll(/\b(cluster|scope|node|name)="([^"]*)"/g);
  // Its label `node` is the version of Node.js.
  if (line.startsWith("rolecall_build_info")) return false;
  return [...labels].some(([, label = "", value = ""]) =>
    label === "cluster" || label === "scope" ? !/^(c[0-2])?$/.test(value) : !/^(pg[1-3]|http:.*)$/.test(value),
  );
}
