import { countOf, isObject, listOf, nameOf, type JsonObject } from "../values/json.ts";

/** The cluster as one node sees it in the DCS (seeds/node-api.md, "Cluster document"). */
export interface ClusterDocument {
  /** Absent before version 4; then it is the asked node's. */
  readonly scope: string | null;
  readonly members: readonly Member[];
  /** The member that holds the lock, or `null` where the document names none. */
  readonly leader: string | null;
  /** The base address of that member's API: it tells who is meant where the names differ. */
  readonly leaderApi: string | null;
  readonly leaderTimeline: number | null;
}

export interface Member {
  readonly name: string;
  /** API base address, without a path. */
  readonly api: string;
  readonly host: string | null;
  readonly port: number | null;
}

const leaderRoles: readonly string[] = ["leader", "standby_leader", "master", "primary"];

/** More members than any cluster has; what lies beyond is not believed. */
const membersMax = 2_000;

/** Reads a cluster document; `undefined` when it is none, or names no member that can be asked. */
export function parseClusterDocument(value: unknown): ClusterDocument | undefined {
  if (!isObject(value)) return undefined;
  const rows = listOf(value["members"]).slice(0, membersMax).filter(isObject);
  const members = rows.flatMap(member);
  if (members.length === 0) return undefined;
  const leader = rows.find((row) => typeof row["role"] === "string" && leaderRoles.includes(row["role"]));
  return {
    scope: nameOf(value["scope"]),
    members,
    leader: nameOf(leader?.["name"]),
    leaderApi: originOf(leader?.["api_url"]),
    leaderTimeline: countOf(leader?.["timeline"]),
  };
}

function member(row: JsonObject): Member[] {
  const name = nodeNameOf(row["name"]);
  const api = originOf(row["api_url"]);
  if (name === null || api === null) return [];
  const port = countOf(row["port"]);
  return [{ name, api, host: nameOf(row["host"]), port: port !== null && port > 0 && port < 65_536 ? port : null }];
}

/**
 * A name that a node may have: up to 128 characters, without a slash (paths name nodes), and without what does not show, or shows
 * other characters in another order (control, format and bidirectional characters, lone surrogates): it stands in logs and pages.
 * @returns `null` for every other value
 */
export function nodeNameOf(value: unknown): string | null {
  const name = nameOf(value, 128);
  return name === null || name === "" || name.includes("/") || /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)
    ? null
    : name;
}

/**
 * The base address of an API by a URL of it: `http://10.0.0.1:8008/patroni` is asked at `http://10.0.0.1:8008`.
 * @returns `null` for what nobody can be asked at, a port past 65535 or an impossible host included
 */
export function originOf(value: unknown): string | null {
  const match =
    typeof value === "string" && value.length < 512
      ? /^(https?:\/\/(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?)(?:\/|$)/i.exec(value)
      : null;
  const origin = match?.[1]?.toLowerCase();
  return origin !== undefined && URL.canParse(origin) ? origin : null;
}
