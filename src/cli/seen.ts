import { isObject, listOf, parseJson, type JsonObject } from "../cluster/json.ts";
import type { Config } from "../config/config.ts";
import type { ClusterOverview, DrainOverview, NodeOverview } from "../health/overview.ts";
import { Stop } from "./command.ts";
import { configFrom, sourcesOf } from "./configuration.ts";
import { probeOnce } from "./probe-once.ts";
import { Server, type ServerReply } from "./server.ts";
import type { Session } from "./session.ts";

/** A node as it was told; a newer rolecall may know reasons that this one does not. */
export interface SeenNode extends Omit<NodeOverview, "verdicts" | "reason"> {
  readonly verdicts: { readonly [route: string]: string };
  readonly reason: string | null;
}

export interface SeenCluster extends Omit<ClusterOverview, "nodes"> {
  readonly nodes: readonly SeenNode[];
}

/** All clusters, and who said so. */
export interface Seen {
  /** The server's address, or `probed here`. */
  readonly by: string;
  readonly clusters: readonly SeenCluster[];
}

/** Whether the command is to probe itself rather than ask a server. */
export function probesItself({ args }: Session): boolean {
  return args.text("server") === null && (args.text("config") !== null || args.text("discover") !== null);
}

/** The configuration that the command names. @throws Stop where it is wrong; each problem is a finding already */
export function requireConfig({ args, io, result }: Session): Config {
  const config = configFrom(sourcesOf(args, io.env), result);
  if (config === null) throw new Stop("RC006", "the configuration cannot be used");
  return config;
}

/**
 * Looks the clusters over: by one probing of our own where the command names a configuration or a seed, else by asking the
 * running rolecall. `--cluster` leaves one. @throws Stop where nothing can be had
 */
export async function see(session: Session): Promise<Seen> {
  const wanted = session.args.text("cluster");
  const seen = await (probesItself(session) ? seeItself(session) : seeFrom(new Server(session, "admin")));
  const clusters = seen.clusters.filter(({ cluster }) => wanted === null || cluster === wanted);
  if (clusters.length === 0 && wanted !== null) {
    throw new Stop(
      "RC001",
      `--cluster must be one of ${seen.clusters.map(({ cluster }) => cluster).join(", ")}: it is ${JSON.stringify(wanted)}`,
    );
  }
  return { ...seen, clusters };
}

async function seeItself(session: Session): Promise<Seen> {
  const { overview } = await probeOnce(requireConfig(session), session);
  return { by: "probed here", clusters: overview().clusters };
}

/** Asks a running rolecall for `/status`. */
export async function seeFrom(server: Server): Promise<Seen> {
  return seenOf(server, await server.getPage("/status"));
}

/** As {@link seeFrom}; `null` where the server is a listener without operator pages. */
export async function seeIfShown(server: Server): Promise<Seen | null> {
  const reply = await server.getPage("/status");
  const document = parseJson(reply.text);
  return isObject(document) && document["error"] === "operator_pages_off" ? null : seenOf(server, reply);
}

function seenOf(server: Server, reply: ServerReply): Seen {
  const { clusters } = server.objectOf("/status", reply);
  if (!Array.isArray(clusters)) throw new Stop("RC007", `${server.url}/status has no list of clusters`);
  return { by: server.url, clusters: clusters.filter(isObject).map(readCluster) };
}

function readCluster(row: JsonObject): SeenCluster {
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

function readNode(row: JsonObject): SeenNode {
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
