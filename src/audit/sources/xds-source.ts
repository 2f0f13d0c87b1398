import { listText } from "../../health/documents/wording.ts";
import type { PoolAcknowledgement } from "../../push/xds/xds-service.ts";
import type { PoolReading } from "../core/reading.ts";
import type { RouteSource } from "./route-source.ts";

/** Reads which Envoys of a listener have not taken what they were sent. In process: it asks nobody. */
export function xdsSource(
  pools: readonly string[],
  acknowledgements: () => readonly PoolAcknowledgement[],
): RouteSource {
  return {
    read: () => {
      const all = acknowledgements();
      return Promise.resolve(pools.map((pool) => poolOf(pool, all)));
    },
  };
}

function poolOf(pool: string, all: readonly PoolAcknowledgement[]): PoolReading {
  const without = all.filter((one) => one.pool === pool && one.state !== "has");
  const refusal = without.find((one) => one.refusal !== null)?.refusal ?? null;
  const envoys = listText(without.map(({ envoy }) => envoy));
  const notTaken =
    without.length === 0
      ? null
      : `was not taken by ${envoys}${refusal === null ? "" : ` (${refusal})`}: new connections go where they went before`;
  return { backend: pool, servers: [], isShared: false, leadsTo: null, notTaken };
}
