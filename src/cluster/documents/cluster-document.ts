import { parseLsn } from "../values/lsn.ts";
import { countOf, isObject, listOf, nameOf, type JsonObject } from "../values/json.ts";

/** The cluster as one node sees it in the DCS. */
export interface ClusterDocument {
  /** Absent before version 4. Then it is the scope of the node that returned the document. */
  readonly scope: string | null;
  readonly members: readonly Member[];
  /** The names of the other members: those without a usable API address. */
  readonly unaddressed: readonly string[];
  /** The member that holds the lock; `null` if the document names none. */
  readonly leader: string | null;
  /** The base address of that member's API. It identifies the node if names differ. */
  readonly leaderApi: string | null;
  readonly leaderTimeline: number | null;
}

export interface Member {
  readonly name: string;
  /** API base address, without a path. */
  readonly api: string;
  readonly host: string | null;
  readonly port: number | null;
  /** By how much the leader is past the member, in bytes, by the positions in the DCS; `null` if not stated. */
  readonly behind: number | null;
  /** The position that this counts from, in bytes; Patroni before 4.1 states none. */
  readonly position: number | null;
}

const leaderRoles: readonly string[] = ["leader", "standby_leader", "master", "primary"];

/** More members than any cluster has. Further ones are ignored: each would be probed. */
const membersMax = 256;

/** Parses a cluster document. Returns `undefined` if it is none, or has no member with a name. */
export function parseClusterDocument(value: unknown): ClusterDocument | undefined {
  if (!isObject(value)) return undefined;
  const rows = listOf(value["members"]).slice(0, membersMax).filter(isObject);
  const members = rows.flatMap(member);
  const addressed = new Set(members.map(({ name }) => name));
  const unaddressed = rows.flatMap((row) => nodeNameOf(row["name"]) ?? []).filter((name) => !addressed.has(name));
  if (members.length === 0 && unaddressed.length === 0) return undefined;
  const leader = rows.find((row) => typeof row["role"] === "string" && leaderRoles.includes(row["role"]));
  return {
    scope: nameOf(value["scope"]),
    members,
    unaddressed,
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
  return [
    {
      name,
      api,
      host: nameOf(row["host"]),
      port: port !== null && port > 0 && port < 65_536 ? port : null,
      behind: countOf(row["lag"]),
      position: parseLsn(nameOf(row["lsn"]) ?? "") ?? null,
    },
  ];
}

/**
 * Returns a value that is a valid node name: 1 to 128 characters, without a slash (nodes are addressed by path), and
 * without control, format and bidirectional characters and lone surrogates (names are shown in logs and pages).
 * @returns `null` for every other value
 */
export function nodeNameOf(value: unknown): string | null {
  const name = nameOf(value, 128);
  return name === null || name === "" || name.includes("/") || /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)
    ? null
    : name;
}

/**
 * Returns the base address of a node's API URL: `http://10.0.0.1:8008` for `http://10.0.0.1:8008/patroni`.
 * @returns `null` for every other value, including a port past 65535 and an impossible host
 */
export function originOf(value: unknown): string | null {
  const match =
    typeof value === "string" && value.length < 512
      ? /^(https?:\/\/(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?)(?:\/|$)/i.exec(value)
      : null;
  const origin = match?.[1]?.toLowerCase();
  return origin !== undefined && URL.canParse(origin) ? origin : null;
}
