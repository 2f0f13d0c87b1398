import { parseLsn } from "../values/lsn.ts";
import { countOf, isObject, listOf, nameOf, type JsonObject } from "../values/json.ts";
import { isUnreadable } from "../values/python-json.ts";
import { withoutUnsafe } from "../values/unsafe-text.ts";

/** The cluster as one node sees it in the DCS. */
export interface ClusterDocument {
  /** Absent before version 4. Then it is the scope of the node that returned the document. */
  readonly scope: string | null;
  readonly members: readonly Member[];
  /** What else it lists, and is not taken as it is. */
  readonly leftOut: readonly LeftOut[];
  /** The member that holds the lock; `null` if the document names none. */
  readonly leader: string | null;
  /** The base address of that member's API. It identifies the node if names differ. */
  readonly leaderApi: string | null;
  readonly leaderTimeline: number | null;
  /** Whether members may be missing in it: a row cannot be read, or there are more rows than are kept. It omits nobody. */
  readonly isPartial: boolean;
  /** Whether a row that cannot be read may be the leader's: a list that names no known leader then says nothing of it. */
  readonly isLeaderUnreadable: boolean;
}

/** A row of a member list that is not taken as it is. */
export interface LeftOut {
  /** The member's name. One that cannot be used has a `?` for each unsafe character, and is cut. */
  readonly member: string;
  readonly cause:
    | "no_address"
    /** Other members of the list have the same API address: at most one of them can be there. */
    | "shared_address"
    | "unusable_name"
    /** An earlier row has the same name. */
    | "repeated_name"
    /** The first row past the limit: of it and those after it only the leader and synchronous standbys are kept. */
    | "past_limit";
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
  /** Whether it is a synchronous standby, or one of the quorum. Absent: it is not. */
  readonly isSync?: boolean | undefined;
}

const leaderRoles: readonly string[] = ["leader", "standby_leader", "master", "primary"];

const syncRoles: readonly string[] = ["sync_standby", "quorum_standby"];

/**
 * More members than any cluster has. Of a longer list the leader, synchronous standbys and the first rows are kept: each
 * may be probed.
 */
export const memberLimit = 256;
/** So many synchronous standbys are kept first. */
export const syncStandbysMax = 16;

/** How much of a name that cannot be used is shown, in characters. */
const shownMax = 64;

/** Parses a cluster document. Returns `undefined` if it is none, or has no member with a name. */
export function parseClusterDocument(value: unknown): ClusterDocument | undefined {
  if (!isObject(value)) return undefined;
  const all = listOf(value["members"]);
  const listed = all.filter(isMember);
  const rows = keptRows(listed);
  const members = rows.flatMap(member);
  if (rows.every((row) => nodeNameOf(row["name"]) === null)) return undefined;
  const leader =
    listed.find((row) => isLeader(row) && nameOf(row["name"]) !== null) ?? listed.find((row) => isLeader(row));
  const isUnread = !all.every(isReadable);
  return {
    scope: nameOf(value["scope"]),
    members,
    leftOut: leftOutRows(rows, members, past(listed, rows)),
    leader: nameOf(leader?.["name"]),
    leaderApi: originOf(leader?.["api_url"]),
    leaderTimeline: countOf(leader?.["timeline"]),
    isPartial: isUnread || rows.length < listed.length,
    isLeaderUnreadable: isUnread && nameOf(leader?.["name"]) === null,
  };
}

/** The rows that are kept of a list, in its order. */
function keptRows(listed: readonly JsonObject[]): readonly JsonObject[] {
  if (listed.length <= memberLimit) return listed;
  const first = [
    ...listed.filter(isLeader).slice(0, 1),
    ...listed.filter((row) => hasRole(row, syncRoles)).slice(0, syncStandbysMax),
  ];
  const kept = new Set(first);
  for (const row of listed) if (kept.size < memberLimit) kept.add(row);
  return listed.filter((row) => kept.has(row));
}

function past(listed: readonly JsonObject[], rows: readonly JsonObject[]): JsonObject | undefined {
  if (rows.length === listed.length) return undefined;
  const kept = new Set(rows);
  return listed.find((row) => !kept.has(row));
}

function isLeader(row: JsonObject): boolean {
  return hasRole(row, leaderRoles);
}

function hasRole({ role }: JsonObject, roles: readonly string[]): boolean {
  return typeof role === "string" && roles.includes(role);
}

/** Whether a row says which member it is of, and what that is. */
function isReadable(row: unknown): boolean {
  if (!isObject(row)) return false;
  const { name, role } = row;
  return typeof name === "string" && !isUnreadable(name) && !isUnreadable(role);
}

/**
 * Whether a row is a member's. In a strict synchronous mode without a candidate, a placeholder stands where the name of a
 * standby would.
 */
function isMember(row: unknown): row is JsonObject {
  return isObject(row) && row["name"] !== "__patroni_strict_sync_replica_placeholder__";
}

function leftOutRows(
  rows: readonly JsonObject[],
  members: readonly Member[],
  pastLimit: JsonObject | undefined,
): readonly LeftOut[] {
  const leftOut: LeftOut[] = [];
  const addressed = new Set(members.map(({ name }) => name));
  const names = new Set<string>();
  for (const row of rows) {
    const name = nodeNameOf(row["name"]);
    if (name === null) leftOut.push({ member: shownName(row), cause: "unusable_name" });
    else if (names.has(name)) leftOut.push({ member: name, cause: "repeated_name" });
    else if (!addressed.has(name)) leftOut.push({ member: name, cause: "no_address" });
    names.add(name ?? "");
  }
  const namesAt = new Map<string, Set<string>>();
  for (const { name, api } of members) namesAt.set(api, (namesAt.get(api) ?? new Set()).add(name));
  for (const sharing of namesAt.values())
    if (sharing.size > 1)
      leftOut.push(...[...sharing].map((name) => ({ member: name, cause: "shared_address" as const })));
  if (pastLimit !== undefined) leftOut.push({ member: shownName(pastLimit), cause: "past_limit" });
  return leftOut;
}

/** The name of a row, fit to be shown. */
function shownName({ name }: JsonObject): string {
  return typeof name === "string" && name !== "" ? withoutUnsafe(name.slice(0, shownMax)) : "?";
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
      ...(hasRole(row, syncRoles) ? { isSync: true } : {}),
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
