/** HAProxy's log of sessions, as `machines/edges.ts` configures it. */
import { readFileSync, statSync } from "node:fs";
import type { RouteEvent } from "../history.ts";
import type { Balancer } from "../machines/edges.ts";

/** Where a log ends at the moment. */
export function endOf(balancer: Balancer): number {
  return statSync(balancer.logFile).size;
}

/** The sessions that were logged from a place on. */
export function routesSince({ name, logFile }: Balancer, from: number): readonly RouteEvent[] {
  const lines = readFileSync(logFile).subarray(from).toString().split("\n");
  return lines.flatMap((line) => {
    const [, port, pool, server, seconds] = /^route (\d+) \S+ (\S+) (\S+) ([\d.]+)$/.exec(line) ?? [];
    if (port === undefined || pool === undefined || server === undefined) return [];
    const acceptedAtWallMs = Number(seconds) * 1_000;
    return [{ type: "route", balancer: name, port: Number(port), pool, server, acceptedAtWallMs } as const];
  });
}
