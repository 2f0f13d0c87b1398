import { isJsonObject, type SimulatorJson, type SimulatorObject } from "./json.ts";

/** The dynamic configuration as the HA loop uses it. Durations in ms. */
export interface SimulatorSettings {
  readonly ttlMs: number;
  readonly loopWaitMs: number;
  readonly maximumLagOnFailover: number;
  readonly checkTimeline: boolean;
  readonly pause: boolean;
  readonly synchronousMode: "off" | "on" | "quorum";
  readonly failsafeMode: boolean;
  readonly standbyCluster: boolean;
  /** The database's parameters with values as text: `max_connections` to `50`. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Reads the dynamic configuration (`GET /config` of Patroni) in either vocabulary (`postgresql` or `database`). A
 * missing or invalid field has Patroni's default: ttl 30 s, loop_wait 10 s, maximum_lag_on_failover 1 MiB.
 */
export function readSettings(config: SimulatorObject): SimulatorSettings {
  const ttlMs = Math.max(20, msOfSeconds(config["ttl"], 30));
  const database = config["postgresql"] ?? config["database"];
  const parameters = isJsonObject(database) && isJsonObject(database["parameters"]) ? database["parameters"] : {};
  return {
    ttlMs,
    // A lock renewed less often than it expires would flap. Real nodes shorten loop_wait likewise.
    loopWaitMs: Math.min(Math.max(10, msOfSeconds(config["loop_wait"], 10)), ttlMs / 2),
    maximumLagOnFailover: numeric(config["maximum_lag_on_failover"], 1_048_576),
    checkTimeline: truthy(config["check_timeline"]),
    pause: truthy(config["pause"]),
    synchronousMode: synchronousMode(config["synchronous_mode"]),
    failsafeMode: truthy(config["failsafe_mode"]),
    standbyCluster: isJsonObject(config["standby_cluster"]) && Object.keys(config["standby_cluster"]).length > 0,
    parameters: new Map(
      Object.entries(parameters).map(([name, value]) => [
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    ),
  };
}

/** Reads a boolean in any spelling of configurations: `true`, `"on"`, `"yes"`, `1` (Patroni utils.py, parse_bool). */
export function truthy(value: SimulatorJson | undefined): boolean {
  return (
    value === true ||
    value === 1 ||
    (typeof value === "string" && ["on", "true", "yes", "1"].includes(value.toLowerCase()))
  );
}

function synchronousMode(value: SimulatorJson | undefined): SimulatorSettings["synchronousMode"] {
  if (value === "quorum") return "quorum";
  return truthy(value) ? "on" : "off";
}

function msOfSeconds(value: SimulatorJson | undefined, fallback: number): number {
  return Math.min(86_400, Math.max(0, numeric(value, fallback))) * 1000;
}

function numeric(value: SimulatorJson | undefined, fallback: number): number {
  const parsed = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : fallback;
}
