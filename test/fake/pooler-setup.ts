import { parsePoolerAddress } from "../../src/core/config/values/pooler-address.ts";
import type { PoolerConfig } from "../../src/core/config/model/config.ts";
import { parseCheckText } from "../../src/core/config/values/check-text.ts";

/** A pooler as the configuration gives it, with a database of the cluster `orders`. */
export function poolerOf(name: string, address: string, changes: Partial<PoolerConfig> = {}): PoolerConfig {
  const parsed = parsePoolerAddress(address);
  const check = parseCheckText("/primary", { ignoreParams: [], intervalMs: 1000 });
  if (parsed === undefined || !check.ok)
    throw new Error(`Cannot make a pooler: the address must be one, got ${address}`);
  return {
    name,
    pgbouncer: { address: parsed, user: "rolecall", passwordFile: null, tls: null, processes: 1 },
    databases: [{ name: "orders", pool: null, cluster: "orders", check: check.check, file: null }],
    pauseLimitMs: 3000,
    holdOnLossMs: null,
    holdEnd: "wait",
    ...changes,
  };
}
