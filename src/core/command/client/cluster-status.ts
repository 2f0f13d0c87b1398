import { isObject, listOf, objectOf, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import type { DrainOverview } from "../../health/documents/node-overview.ts";
import type { StateOverview } from "../../http/diagnostics/config-overview.ts";
import { CommandError } from "../framework/command-error.ts";
import { unknownNameError } from "./node-name.ts";
import { RolecallClient, type RolecallReply } from "./rolecall-client.ts";
import type { ClusterStatus, StatusCluster, StatusNode, StatusSituation } from "./status-types.ts";
import type { CommandContext } from "../framework/command-context.ts";

export type { ClusterStatus, StatusCluster, StatusNode } from "./status-types.ts";

/**
 * Selects the cluster of `--cluster`, if that is given.
 * @throws CommandError (RC001) if there is no such cluster
 */
export function selectCluster({ args }: Pick<CommandContext, "args">, status: ClusterStatus): ClusterStatus {
  const selected = args.text("cluster");
  const clusters = status.clusters.filter(({ cluster }) => selected === null || cluster === selected);
  if (clusters.length === 0 && selected !== null) {
    const names = status.clusters.map(({ cluster }) => cluster);
    throw unknownNameError("--cluster", names, selected);
  }
  return { ...status, clusters };
}

/** Fetches the status from `/status` of a running rolecall. */
export async function fetchStatusFrom(server: RolecallClient): Promise<ClusterStatus> {
  return readStatus(server, await server.getPage("/status"));
}

/** Like {@link fetchStatusFrom}; returns `null` if the listener does not serve operator pages. */
export async function fetchStatusIfServed(server: RolecallClient): Promise<ClusterStatus | null> {
  const reply = await server.getPage("/status");
  const document = parseJson(reply.text);
  return isObject(document) && document["error"] === "operator_pages_off" ? null : readStatus(server, reply);
}

function readStatus(server: RolecallClient, reply: RolecallReply): ClusterStatus {
  const { clusters, config } = server.objectOf("/status", reply);
  if (!Array.isArray(clusters))
    throw new CommandError("RC007", `Cannot read ${server.url}/status: clusters must be a list`);
  return { by: server.url, config: readConfig(config), clusters: clusters.filter(isObject).map(readCluster) };
}

function readConfig(config: unknown): ClusterStatus["config"] {
  if (!isObject(config)) return null;
  const { file, refused } = config;
  const failed = listOf(config["failed_features"]).filter((name) => typeof name === "string");
  const at = (value: unknown): string => stringOrNull(value) ?? "?";
  return {
    file: stringOrNull(file),
    loaded_at: at(config["loaded_at"]),
    refused: isObject(refused)
      ? { at: at(refused["at"]), problems: numberOrNull(refused["problems"]) ?? 0, first: at(refused["first"]) }
      : null,
    ...(failed.length === 0 ? {} : { failed_features: failed }),
    ...(isObject(config["state"]) ? { state: readState(config["state"]) } : {}),
  };
}

function readState({ file, history, from, problem }: JsonObject): StateOverview {
  return {
    file: stringOrNull(file),
    history: stringOrNull(history),
    from: from === "configuration" || from === "STATE_DIRECTORY" || from === "XDG_STATE_HOME" ? from : null,
    problem: stringOrNull(problem),
  };
}

function readCluster(row: JsonObject): StatusCluster {
  return {
    cluster: stringOrNull(row["cluster"]) ?? "?",
    scope: stringOrNull(row["scope"]),
    leader: stringOrNull(row["leader"]),
    timeline: numberOrNull(row["timeline"]),
    blind: row["blind"] === true,
    paused: row["paused"] === true,
    failsafe: row["failsafe"] === true,
    scheduled_switchover: readSwitchover(row["scheduled_switchover"]),
    stated_lags: Object.fromEntries(
      Object.entries(objectOf(row["stated_lags"])).map(([node, lag]) => {
        const { receive_lag: receive, replay_lag: replay } = objectOf(lag);
        return [node, { receive_lag: numberOrNull(receive), replay_lag: numberOrNull(replay) }];
      }),
    ),
    asked_non_members: listOf(row["asked_non_members"])
      .filter(isObject)
      .map(({ node, asked_ms_ago: ago }) => ({
        node: stringOrNull(node) ?? "?",
        asked_ms_ago: numberOrNull(ago) ?? 0,
      })),
    routes: listOf(row["routes"]).filter((text) => typeof text === "string"),
    poolers: listOf(row["poolers"]).filter((text) => typeof text === "string"),
    ...(Array.isArray(row["canaries"]) ? { canaries: listOf(row["canaries"]).filter(isObject) } : {}),
    ...(Array.isArray(row["services"]) ? { services: listOf(row["services"]).filter(isObject) } : {}),
    nodes: listOf(row["nodes"]).filter(isObject).map(readNode),
    situation: readSituation(objectOf(row["situation"])),
  };
}

function readNode(row: JsonObject): StatusNode {
  const verdicts = isObject(row["verdicts"]) ? Object.entries(row["verdicts"]) : [];
  return {
    node: stringOrNull(row["node"]) ?? "?",
    role: stringOrNull(row["role"]),
    state: stringOrNull(row["state"]),
    was: stringOrNull(row["was"]),
    error: stringOrNull(row["error"]),
    timeline: numberOrNull(row["timeline"]),
    lag_bytes: numberOrNull(row["lag_bytes"]),
    lag_ms: numberOrNull(row["lag_ms"]),
    age_ms: numberOrNull(row["age_ms"]),
    version: stringOrNull(row["version"]),
    system: stringOrNull(row["system"]),
    scope: stringOrNull(row["scope"]),
    api: stringOrNull(row["api"]),
    exporter: stringOrNull(row["exporter"]),
    database: stringOrNull(row["database"]),
    zone: stringOrNull(row["zone"]),
    sync_role: row["sync_role"] === "sync" || row["sync_role"] === "quorum" ? row["sync_role"] : null,
    tags: Object.fromEntries(Object.entries(isObject(row["tags"]) ? row["tags"] : {}).map(([k, v]) => [k, String(v)])),
    pending_restart: row["pending_restart"] === true,
    pending_restart_reason: listOf(row["pending_restart_reason"]).filter((reason) => typeof reason === "string"),
    watchdog_failed: row["watchdog_failed"] === true,
    scheduled_restart: stringOrNull(row["scheduled_restart"]),
    verdicts: Object.fromEntries(verdicts.map(([route, verdict]) => [route, String(verdict)])),
    reason: stringOrNull(row["reason"]),
    detail: stringOrNull(row["detail"]),
    warning: stringOrNull(row["warning"]),
    drain: isObject(row["drain"]) ? readDrain(row["drain"]) : null,
    evidence: row["evidence"] === "last known" || row["evidence"] === "none" ? row["evidence"] : "fresh",
    asked: numberOrNull(row["asked"]) ?? 0,
    refused: listOf(row["refused"])
      .filter(isObject)
      .map(({ check, pool, reason, detail }) => ({
        check: stringOrNull(check) ?? "?",
        pool: stringOrNull(pool),
        reason: stringOrNull(reason) ?? "?",
        detail: stringOrNull(detail),
      })),
    condition: stringOrNull(row["condition"]) ?? "unknown",
    attachment: row["attachment"] === "known" || row["attachment"] === "not known" ? row["attachment"] : null,
    asked_ms_ago: numberOrNull(row["asked_ms_ago"]),
    unasked: row["unasked"] === true,
  };
}

function readSituation(row: JsonObject): StatusSituation {
  return {
    condition: stringOrNull(row["condition"]) ?? "unknown",
    wrong: stringOrNull(row["wrong"]),
    cause: stringOrNull(row["cause"]),
    since: stringOrNull(row["since"]),
    for_ms: numberOrNull(row["for_ms"]),
    clients: stringOrNull(row["clients"]) ?? "",
    next: stringOrNull(row["next"]),
    action: stringOrNull(row["action"]),
  };
}

function readSwitchover(plan: unknown): StatusCluster["scheduled_switchover"] {
  const at = isObject(plan) ? stringOrNull(plan["at"]) : null;
  return isObject(plan) && at !== null ? { at, from: stringOrNull(plan["from"]), to: stringOrNull(plan["to"]) } : null;
}

/** Reads a drain from a row of `/status` or `/drains`. */
export function readDrain(row: JsonObject): DrainOverview {
  return {
    reason: stringOrNull(row["reason"]) ?? "",
    by: stringOrNull(row["by"]),
    all: row["all"] === true,
    distrust: row["distrust"] === true,
    since: stringOrNull(row["since"]) ?? "",
    until: stringOrNull(row["until"]) ?? "",
    remaining_ms: numberOrNull(row["remaining_ms"]) ?? 0,
  };
}

function stringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
