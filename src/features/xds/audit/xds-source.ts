import { setImmediate as turn } from "node:timers/promises";
import { listText } from "../../../core/health/wording.ts";
import type { PoolReading } from "../../../core/balancing/audited/reading.ts";
import type { RouteSource } from "../../../core/balancing/audited/route-source.ts";

/** What an Envoy has not taken of a pool, or has refused. */
export interface LackingAcknowledgement {
  readonly envoy: string;
  readonly pool: string;
  readonly state: "waits" | "refused" | "has";
  /** Why it refuses, in its words; `null` if it does not. */
  readonly refusal: string | null;
}

/**
 * Reads which Envoys of a listener have not taken what they were sent. In process: it asks nobody. One Envoy a turn of
 * the event loop: hundreds of them may subscribe to a thousand pools each.
 */
export function xdsSource(
  pools: readonly string[],
  lacking: () => Iterable<readonly LackingAcknowledgement[]>,
): RouteSource {
  return {
    read: async () => {
      const ofPools = new Map<string, LackingAcknowledgement[]>();
      for (const ofEnvoy of lacking()) {
        for (const one of ofEnvoy) {
          const known = ofPools.get(one.pool);
          if (known === undefined) ofPools.set(one.pool, [one]);
          else known.push(one);
        }
        await turn();
      }
      return pools.map((pool) => poolOf(pool, ofPools.get(pool) ?? []));
    },
  };
}

function poolOf(pool: string, without: readonly LackingAcknowledgement[]): PoolReading {
  const refusal = without.find((one) => one.refusal !== null)?.refusal ?? null;
  const envoys = listText(without.map(({ envoy }) => envoy));
  const notTaken =
    without.length === 0
      ? null
      : `was not taken by ${envoys}${refusal === null ? "" : ` (${refusal})`}: new connections go where they went before`;
  return { backend: pool, servers: [], isShared: false, leadsTo: null, closed: null, notTaken };
}
