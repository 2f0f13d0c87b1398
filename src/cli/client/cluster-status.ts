import { isObject, listOf, parseJson, type JsonObject } from "../../cluster/values/json.ts";
import type { Config } from "../../config/model/config.ts";
import type { ClusterOverview, DrainOverview, NodeOverview } from "../../health/explain/overview.ts";
import { CommandError } from "../framework/command.ts";
import { configFrom, sourcesOf } from "./configuration.ts";
import { probeOnce } from "./probe-once.ts";
import { Server, type ServerReply } from "./server.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** A node as it was told; a newer rolecall may know reasons that this one does not. */
export interface StatusNode extends Omit<NodeOverview, "verdicts" | "reason"> {
  readonly verdicts: { readonly [route: string]: string };
  readonly reason: string | null;
}

export interface StatusCluster extends Omit<ClusterOverview, "nodes"> {
  readonly nodes: readonly StatusNode[];
}

/** All clusters, and who said so. */
export interface ClusterStatus {
  /** The server's address, or `probed here`. */
  readonly by: string;
  readonly clusters: readonly StatusCluster[];
}

/** Whether the command is to probe itself rather than ask a server. */
export function isLocal({ args }: CommandContext): boolean {
  return args.text("server") === null && (args.text("config") !== null || args.text("discover") !== null);
}

/** The configuration that the command names. @throws Stop where it is wrong; each problem is a finding already */
export function requireConfig({ args, io, result }: CommandContext): Config {
  const config = configFrom(sourcesOf(args, io.env), result);
  if (config === null) throw new CommandError("RC006", "the configuration cannot be used");
  return config;
}

/**
 * Looks the clusters over: by one probing of our own where the command names a configuration or a seed, else by asking the
 * running rolecall. `--cluster` leaves one. @throws Stop where nothing can be had
 */
export async function fetchStatus(context: CommandContext): Promise<ClusterStatus> {
  const wanted = context.args.text("cluster");
  const status = await (isLocal(context) ? probeStatus(context) : fetchStatusFrom(new Server(context, "admin")));
  const clusters = status.clusters.filter(({ cluster }) => wanted === null || cluster === wanted);
  if (clusters.length === 0 && wanted !== null) {
    throw new CommandError(
      "RC001",
      `--cluster must be one of ${status.clusters.map(({ cluster }) => cluster).join(", ")}: it is ${JSON.stringify(wanted)}`,
    );
  }
  return { ...status, clusters };
}

async function probeStatus(context: CommandContext): Promise<ClusterStatus> {
  const { overview } = await probeOnce(requireConfig(context), context);
  return { by: "probed here", clusters: overview().clusters };
}

/** Asks a running rolecall for `/status`. */
export async function fetchStatusFrom(server: Server): Promise<ClusterStatus> {
  return seenOf(server, await server.getPage("/status"));
}

/** As {@link fetchStatusFrom}; `null` where the server is a listener without operator pages. */
export async function seeIfShown(server: Server): Promise<ClusterStatus | null> {
  const reply = await server.getPage("/status");
  const document = parseJson(reply.text);
  return isObject(document) && document["error"] === "operator_pages_off" ? null : seenOf(server, reply);
}

function seenOf(server: Server, reply: ServerReply): ClusterStatus {
  const { clusters } = server.objectOf("/status", reply);
  if (!Array.isArray(clusters)) throw new CommandError("RC007", `${server.url}/status has no list of clusters`);
  return { by: server.url, clusters: clusters.filter(isObject).map(readCluster) };
}

function readCluster(row: JsonObject): StatusCluster {
  return {
    cluster: text(row["cluster"]) ?? "?",
    scope: text(row["scope"]),
    leader: text(row["leader"]),
    timeline: figure(row["timeline"]),
    blind: row["blind"] === true,
    paused: row["paused"] === true,
    nodes: listOf(row["nodes"]).filter(isObject).map(readNode),
  };
}

function readNode(row: JsonObject): StatusNode {
  const verdicts = isObject(row["verdicts"]) ? Object.entries(row["verdicts"]) : [];
  return {
    node: text(row["node"]) ?? "?",
    role: text(row["role"]),
    state: text(row["state"]),
    timeline: figure(row["timeline"]),
    lag_bytes: figure(row["lag_bytes"]),
    lag_ms: figure(row["lag_ms"]),
    age_ms: figure(row["age_ms"]),
    version: text(row["version"]),
    system: text(row["system"]),
    scope: text(row["scope"]),
    api: text(row["api"]),
    exporter: text(row["exporter"]),
    database: text(row["database"]),
    verdicts: Object.fromEntries(verdicts.map(([route, word]) => [route, String(word)])),
    reason: text(row["reason"]),
    detail: text(row["detail"]),
    warning: text(row["warning"]),
    drain: isObject(row["drain"]) ? readDrain(row["drain"]) : null,
  };
}

/** Reads a drain as `/status` and `/drains` tell it. */
export function readDrain(row: JsonObject): DrainOverview {
  return {
    reason: text(row["reason"]) ?? "",
    by: text(row["by"]),
    all: row["all"] === true,
    since: text(row["since"]) ?? "",
    until: text(row["until"]) ?? "",
    remaining_ms: figure(row["remaining_ms"]) ?? 0,
  };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function figure(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
