import { type Cluster, wakeLoops } from "./cluster.ts";
import { isJsonObject, type SimulatorJson, type SimulatorObject } from "./json.ts";
import { readSettings } from "./settings.ts";

/** Applies a configuration: every node runs its HA loop at once and follows it. */
export function configure(cluster: Cluster, config: SimulatorObject): void {
  cluster.config = config;
  cluster.settings = readSettings(config);
  wakeLoops(cluster, 0);
}

/**
 * Returns the configuration with a change merged in: objects merge key by key, `null` removes a key
 * (`PATCH /config` of Patroni).
 */
export function patched(config: SimulatorObject, change: SimulatorObject): SimulatorObject {
  const result = new Map<string, SimulatorJson>(Object.entries(config));
  for (const [key, value] of Object.entries(change)) {
    const old = result.get(key);
    if (value === null) result.delete(key);
    else result.set(key, isJsonObject(value) && isJsonObject(old) ? patched(old, value) : value);
  }
  // Not by assignment: the key "__proto__" is data here.
  return Object.fromEntries(result);
}
