import { countOf, isObject } from "../values/json.ts";
import { isUnreadable } from "../values/python-json.ts";

/** The settings of the dynamic configuration that rolecall uses. Durations in milliseconds. */
export interface DynamicConfig {
  readonly ttlMs: number;
  readonly loopWaitMs: number;
  readonly retryTimeoutMs: number;
  readonly lagMaxOnFailover: number;
  readonly isStandbyCluster: boolean;
  /** Whether commits wait for a synchronous standby. */
  readonly isSynchronous: boolean;
  /** Whether they wait even while there is none. */
  readonly isSynchronousStrict: boolean;
}

/** Patroni's defaults. */
export const defaultConfig: DynamicConfig = {
  ttlMs: 30_000,
  loopWaitMs: 10_000,
  retryTimeoutMs: 10_000,
  lagMaxOnFailover: 1_048_576,
  isStandbyCluster: false,
  isSynchronous: false,
  isSynchronousStrict: false,
};

/** What a dynamic configuration states; without the settings that cannot be read. */
export type StatedConfig = Partial<DynamicConfig>;

/**
 * Parses a dynamic configuration, with Patroni's defaults for missing settings. Returns `undefined` if it is no object.
 */
export function parseDynamicConfig(value: unknown): StatedConfig | undefined {
  if (!isObject(value)) return undefined;
  const { ttl, loop_wait: loopWait, retry_timeout: retryTimeout, maximum_lag_on_failover: lagMax } = value;
  const { synchronous_mode: mode, synchronous_mode_strict: strict } = value;
  return {
    ...(isUnreadable(ttl) ? {} : { ttlMs: milliseconds(ttl, defaultConfig.ttlMs) }),
    ...(isUnreadable(loopWait) ? {} : { loopWaitMs: milliseconds(loopWait, defaultConfig.loopWaitMs) }),
    ...(isUnreadable(retryTimeout) ? {} : { retryTimeoutMs: milliseconds(retryTimeout, defaultConfig.retryTimeoutMs) }),
    ...(isUnreadable(lagMax) ? {} : { lagMaxOnFailover: countOf(lagMax) ?? defaultConfig.lagMaxOnFailover }),
    ...(isUnreadable(mode) ? {} : { isSynchronous: isOn(mode) || lowered(mode) === "quorum" }),
    ...(isUnreadable(strict) ? {} : { isSynchronousStrict: isOn(strict) }),
    ...(isUnreadable(value["standby_cluster"]) ? {} : { isStandbyCluster: isObject(value["standby_cluster"]) }),
  };
}

/** The settings that are stated and, of those that cannot be read, the ones that were known before. */
export function knownConfig(stated: StatedConfig, before: DynamicConfig | null): DynamicConfig {
  return { ...defaultConfig, ...before, ...stated };
}

function milliseconds(value: unknown, otherwise: number): number {
  return typeof value === "number" && value > 0 ? value * 1000 : otherwise;
}

/** Reads a switch in any spelling that Patroni takes (utils.py, parse_bool). */
function isOn(value: unknown): boolean {
  return ["true", "on", "yes", "1"].includes(lowered(value));
}

function lowered(value: unknown): string {
  return typeof value === "string" || typeof value === "boolean" || typeof value === "number"
    ? String(value).toLowerCase()
    : "";
}
