/** Which pool of HAProxy took a connection, from its log. */
import { eventsOf, type HistoryEvent, type RouteEvent } from "../history.ts";
import type { BalancerName } from "../machines/addresses.ts";

/** A port may be used again later in a run. */
const sameConnectionMs = 3_000;

export interface Connection {
  readonly balancer: BalancerName | null;
  readonly port: number | null;
  readonly openedAtWallMs: number;
}

export class Routes {
  readonly #byPort = new Map<string, RouteEvent[]>();

  constructor(history: readonly HistoryEvent[]) {
    for (const route of eventsOf(history, "route")) {
      const key = `${route.balancer}:${route.port}`;
      this.#byPort.set(key, [...(this.#byPort.get(key) ?? []), route]);
    }
  }

  /** The logged session of a connection; undefined if there is none. */
  of({ balancer, port, openedAtWallMs }: Connection): RouteEvent | undefined {
    const distance = (route: RouteEvent): number => Math.abs(route.acceptedAtWallMs - openedAtWallMs);
    return (this.#byPort.get(`${balancer}:${port}`) ?? [])
      .filter((route) => distance(route) < sameConnectionMs)
      .toSorted((one, other) => distance(one) - distance(other))[0];
  }
}

/** The pools whose servers rolecall alone decides about; the others are HAProxy's fallback to the nodes' own checks. */
export function isByRolecall(pool: string): boolean {
  return pool === "demo_write" || pool === "demo_read";
}
