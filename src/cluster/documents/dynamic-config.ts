import { countOf, isObject } from "../values/json.ts";

/** What rolecall needs of the cluster's dynamic configuration (seeds/node-api.md, `/config`). Spans in milliseconds. */
export interface DynamicConfig {
  readonly ttlMs: number;
  readonly loopWaitMs: number;
  readonly retryTimeoutMs: number;
  readonly lagMaxOnFailover: number;
  readonly isStandbyCluster: boolean;
}

/** Reads a dynamic configuration; what it leaves out has the node's defaults. `undefined` when it is no object. */
export function parseDynamicConfig(value: unknown): DynamicConfig | undefined {
  if (!isObject(value)) return undefined;
  return {
    ttlMs: seconds(value["ttl"], 30),
    loopWaitMs: seconds(value["loop_wait"], 10),
    retryTimeoutMs: seconds(value["retry_timeout"], 10),
    lagMaxOnFailover: countOf(value["maximum_lag_on_failover"]) ?? 1_048_576,
    isStandbyCluster: isObject(value["standby_cluster"]),
  };
}

function seconds(value: unknown, otherwise: number): number {
  return (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : otherwise) * 1000;
}
