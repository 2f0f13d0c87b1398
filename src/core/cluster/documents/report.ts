import { countOf, isObject, listOf, nameOf, nodeJson, objectOf, type JsonObject } from "../values/json.ts";
import { hasUnreadable, isUnreadable, withoutUnreadable } from "../values/python-json.ts";
import { isNoLoadBalance, parseTags, type Tags } from "../values/tags.ts";

/** A node's status document, in one vocabulary. Positions in bytes of WAL. */
export interface Report {
  /** PostgreSQL's role, not who holds the lock. `master` is read as `primary`. */
  readonly role: string;
  readonly state: string;
  readonly timeline: number | null;
  /** A primary's WAL position. */
  readonly location: number | null;
  readonly received: number | null;
  readonly replayed: number | null;
  /** `streaming`, `in archive recovery`; absent before version 3.1. */
  readonly replicationState: string | null;
  readonly senders: readonly Sender[];
  readonly isSyncStandby: boolean;
  readonly isQuorumStandby: boolean;
  /** Failsafe mode: the DCS is down, and the leader continues because every member agreed. */
  readonly isFailsafe: boolean;
  readonly isPaused: boolean;
  readonly tags: Tags;
  readonly isNoLoadBalance: boolean;
  /**
   * When the node last reached the DCS, in seconds since the epoch by its own clock (`dcs_last_seen`); `null` if it does
   * not say, or has not reached it since its start (0).
   */
  readonly dcsSeen: number | null;
  /** When PostgreSQL started, as the node states it (`postmaster_start_time`). Only compared for equality. */
  readonly startedAt: string | null;
  readonly system: string | null;
  readonly scope: string | null;
  /** The node's own member name; absent before version 3.1. */
  readonly name: string | null;
  readonly version: string | null;
  /** What the node states in a form that nobody can read, so that it is unknown: neither absent nor its default. */
  readonly unreadable: readonly UnreadableField[];
  /**
   * The document as strict JSON text: an object, as the node wrote it, or as `nodeJson` writes it with `null` for values
   * that have no such form. {@link shownDocument} has it in the form of nodes.
   */
  readonly document: string;
  /** The node's own text where that is no strict JSON, for listeners that answer as the node; else `null`. */
  readonly asWritten: string | null;
}

/** Fields of a report that an unreadable value makes unknown, where `null`, `false` or an empty list would mean more. */
export const unreadableFields = ["scope", "name", "system", "isSyncStandby", "isQuorumStandby", "senders"] as const;

export type UnreadableField = (typeof unreadableFields)[number];

/**
 * How many rows of a sender list are read, of a document or a page. Of these the rows of members are kept first, where
 * the members are known.
 */
export const readSendersMax = 1_024;

/** A standby that receives WAL from the node. */
export interface Sender {
  readonly name: string;
  readonly address: string | null;
  readonly state: string | null;
}

/**
 * Parses a status document in either vocabulary (key `patroni` or `ha`). A role, a state or a replication state that
 * cannot be read is `unknown`, as nodes themselves call a state that they do not know.
 * @param written the JSON text that `value` was parsed from, where it is known: the text of numbers in tags
 * @returns `undefined` if it is no object, lacks `state` or `role`, or is nested too deeply to serialize
 */
export function parseReport(value: unknown, written?: string): Report | undefined {
  if (!isObject(value)) return undefined;
  const role = statedOf(value["role"]);
  const state = statedOf(value["state"]);
  const texts = textsOf(value, written);
  if (role === null || state === null || texts === undefined) return undefined;
  const tags = parseTags(value["tags"], written);
  const { location, received, replayed } = positions(value["xlog"]);
  const own = value["patroni"] ?? value["ha"];
  const { scope, name, version } = identity(own);
  const system = nameOf(value["database_system_identifier"]);
  const senders = listOf(value["replication"]).slice(0, readSendersMax).flatMap(sender);
  return {
    role: role === "master" ? "primary" : role,
    state,
    timeline: countOf(value["timeline"]),
    location,
    received,
    replayed,
    replicationState: statedOf(value["replication_state"]),
    senders,
    isSyncStandby: value["sync_standby"] === true,
    isQuorumStandby: value["quorum_standby"] === true,
    isFailsafe: value["failsafe_mode_is_active"] === true,
    isPaused: value["pause"] === true,
    dcsSeen: countOf(value["dcs_last_seen"]) || null,
    tags,
    // Tags that cannot be read at all may say so.
    isNoLoadBalance: isNoLoadBalance(tags) || isUnreadable(value["tags"]),
    startedAt: nameOf(value["postmaster_start_time"]),
    system,
    scope,
    name,
    version,
    unreadable: unreadableIn(value, own, { scope, name, system, senders }),
    document: texts.document,
    asWritten: texts.asWritten,
  };
}

/** Whether the report shows which node of which cluster this is, as far as it says so: it can all be read (rule 7). */
export function isIdentityReadable({ unreadable }: Pick<Report, "unreadable">): boolean {
  return !unreadable.some((field) => field === "scope" || field === "name" || field === "system");
}

/** A text that is stated: `unknown` if it cannot be read, `null` if there is none. */
function statedOf(value: unknown): string | null {
  return nameOf(value) ?? (isUnreadable(value) ? "unknown" : null);
}

const noFields: readonly UnreadableField[] = [];

/** What was read of a document, and may be unreadable. */
type ReadParts = Pick<Report, "scope" | "name" | "system" | "senders">;

function unreadableIn(value: JsonObject, own: unknown, read: ReadParts): readonly UnreadableField[] {
  const { scope, name } = objectOf(own);
  const { replication, database_system_identifier: system, sync_standby: sync, quorum_standby: quorum } = value;
  const isWhole =
    replication === undefined || (Array.isArray(replication) && read.senders.length === replication.length);
  const isIdentified = read.scope !== null && read.name !== null && read.system !== null;
  // Most documents are such.
  if (isWhole && isIdentified && sync === undefined && quorum === undefined) return noFields;
  let fields = noFields;
  const note = (field: UnreadableField): void => void (fields = [...fields, field]);
  if (read.scope === null && (isStated(scope) || isUnreadable(own))) note("scope");
  if (read.name === null && (isStated(name) || isUnreadable(own))) note("name");
  if (read.system === null && isStated(system)) note("system");
  if (typeof sync !== "boolean" && isUnreadable(sync)) note("isSyncStandby");
  if (typeof quorum !== "boolean" && isUnreadable(quorum)) note("isQuorumStandby");
  if (!isWhole && !areSendersReadable(replication)) note("senders");
  return fields;
}

function isStated(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether each row names a standby. A row that cannot be read may be any standby's. */
function areSendersReadable(value: unknown): boolean {
  if (!Array.isArray(value)) return !isUnreadable(value);
  return value.every((row) => isObject(row) && nameOf(row["application_name"] ?? "") !== null);
}

/** Whether the node's cluster manager is of an earlier version than this one. One that is not known is not. */
export function isBeforeVersion({ version }: Report, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = Number.NaN, ownMinor = 0] = (/^\d+(?:\.\d+)?/.exec(version ?? "")?.[0] ?? "x")
    .split(".")
    .map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

/** Returns the major version of the node's cluster manager; `null` if the report has none. */
export function majorVersion(report: Report): number | null {
  const major = Number.parseInt(report.version ?? "", 10);
  return Number.isNaN(major) ? null : major;
}

function positions(value: unknown): Pick<Report, "location" | "received" | "replayed"> {
  if (!isObject(value)) return { location: null, received: null, replayed: null };
  return {
    location: countOf(value["location"]),
    received: countOf(value["received_location"]),
    replayed: countOf(value["replayed_location"]),
  };
}

function identity(value: unknown): Pick<Report, "scope" | "name" | "version"> {
  if (!isObject(value)) return { scope: null, name: null, version: null };
  return { scope: nameOf(value["scope"]), name: nameOf(value["name"]), version: nameOf(value["version"]) };
}

function sender(value: unknown): Sender[] {
  if (!isObject(value)) return [];
  const name = nameOf(value["application_name"]);
  return name === null ? [] : [{ name, address: nameOf(value["client_addr"]), state: nameOf(value["state"]) }];
}

/** Documents as they are shown. */
const shown = new WeakMap<Report, string>();

/**
 * Returns the document of a report as nodes write it, whatever the spaces, escapes and repeated names of the text that
 * the node sent. Most reports are never shown, so this is done when somebody asks.
 */
export function shownDocument(report: Report): string {
  let text = shown.get(report);
  if (text === undefined) shown.set(report, (text = inNodesForm(report.document)));
  return text;
}

/** What another instance tells of a node may be any text. */
function inNodesForm(document: string): string {
  try {
    return nodeJson(JSON.parse(document), document);
  } catch {
    return document;
  }
}

/** A text with so few brackets can be serialized, however they are nested. */
const shallowMax = 1_000;

/** A document that is nested too deeply can be parsed but not serialized. */
function textsOf(value: JsonObject, written = ""): Pick<Report, "document" | "asWritten"> | undefined {
  try {
    if (hasUnreadable(value, written))
      return { document: nodeJson(withoutUnreadable(value)), asWritten: written.trim() };
    if (written === "" || mayBeDeep(written)) return { document: nodeJson(value, written), asWritten: null };
    return { document: written.trim(), asWritten: null };
  } catch {
    return undefined;
  }
}

function mayBeDeep(text: string): boolean {
  return text.length > 2 * shallowMax && bracketsIn(text, "{") + bracketsIn(text, "[") > shallowMax;
}

function bracketsIn(text: string, bracket: "{" | "["): number {
  let count = 0;
  for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) count += 1;
  return count;
}
