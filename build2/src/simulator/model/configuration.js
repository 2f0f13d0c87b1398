import { wakeLoops } from "./cluster.js";
import { isJsonObject } from "./json.js";
import { readSettings } from "./settings.js";
/** Applies a configuration: every node runs its HA loop at once and follows it. */
export function configure(cluster, config) {
    cluster.config = config;
    cluster.settings = readSettings(config);
    wakeLoops(cluster, 0);
}
/**
 * Returns the configuration with a change merged in: objects merge key by key, `null` removes a key
 * (seeds/node-api.md, PATCH /config).
 */
export function patched(config, change) {
    const result = new Map(Object.entries(config));
    for (const [key, value] of Object.entries(change)) {
        const old = result.get(key);
        if (value === null)
            result.delete(key);
        else
            result.set(key, isJsonObject(value) && isJsonObject(old) ? patched(old, value) : value);
    }
    // Not by assignment: the key "__proto__" is data here.
    return Object.fromEntries(result);
}
//# sourceMappingURL=configuration.js.map