/** The messages of etcd's JSON gateway (etcd 3.4 and later): keys and values are base64, 64-bit numbers are texts. */
import { isObject, nameOf, parseJson, type JsonObject } from "../cluster/values/json.ts";

/** The body of a watch of a folder. */
export function watchRequest(folder: string, afterRevision: number): object {
  return { create_request: { ...folderRange(folder), start_revision: String(afterRevision + 1) } };
}

/** What a range request returned. */
export interface RangeReply {
  readonly clusterId: string;
  readonly revision: number;
  /** The keys that were found. */
  readonly found: readonly { readonly key: string; readonly value: string }[];
}

/** Reads the response to a range request. @returns `null` if it is none */
export function parseRange(body: unknown): RangeReply | null {
  const header = isObject(body) && isObject(body["header"]) ? body["header"] : null;
  const revision = numberOf(header?.["revision"]);
  const clusterId = nameOf(header?.["cluster_id"], 32);
  if (!isObject(body) || clusterId === null || !Number.isSafeInteger(revision) || revision < 1) return null;
  const kvs = body["kvs"] ?? [];
  if (!Array.isArray(kvs) || !kvs.every(isObject)) return null;
  return { clusterId, revision, found: kvs.map(({ key, value }) => ({ key: decode(key), value: decode(value) })) };
}

/** The message of an error response; `null` if there is none. */
export function errorMessageOf(body: unknown): string | null {
  if (!isObject(body)) return null;
  const nested = body["error"];
  return nameOf(isObject(nested) ? nested["message"] : (nested ?? body["message"]), 500);
}

/** Why a watch ended, for logs and metrics. */
export interface WatchEnd {
  /**
   * `compacted`: etcd no longer has the revision to continue from. `cancelled`: by the server. `closed`: the
   * connection ended. `garbage`: the server sent something else than a watch. `failed`: the watch could not be opened.
   * `flood`: the server sent more than a watch may cost.
   */
  readonly cause: "compacted" | "cancelled" | "closed" | "garbage" | "failed" | "flood";
  /** Details for people. */
  readonly detail: string;
}

/** One message of a watch. */
export type WatchMessage =
  | { readonly kind: "created" }
  | { readonly kind: "events"; readonly events: readonly KeyEvent[] }
  | { readonly kind: "ended"; readonly end: WatchEnd };

/** A key that was put or deleted (`value: null`). */
export interface KeyEvent {
  /** The key without the folder. */
  readonly key: string;
  readonly value: string | null;
}

/** Reads one line of a watch. @returns `null` if it is no message of a watch */
export function parseWatchLine(line: string, folder: string): WatchMessage | null {
  const message = parseJson(line);
  if (!isObject(message)) return null;
  const error = message["error"] === undefined ? null : (errorMessageOf(message) ?? "an error without a message");
  if (error !== null) return { kind: "ended", end: { cause: "cancelled", detail: error } };
  const { result } = message;
  if (!isObject(result)) return null;
  if (result["canceled"] === true) return { kind: "ended", end: cancellation(result) };
  if (result["created"] === true) return { kind: "created" };
  const events = result["events"] ?? [];
  if (!Array.isArray(events)) return null;
  return { kind: "events", events: events.flatMap((event) => keyEvent(event, folder)) };
}

function cancellation(result: JsonObject): WatchEnd {
  const detail = nameOf(result["cancel_reason"], 500);
  const compacted = numberOf(result["compact_revision"]);
  return compacted > 0
    ? { cause: "compacted", detail: detail ?? `compacted up to revision ${compacted}` }
    : { cause: "cancelled", detail: detail ?? "without a reason" };
}

/** A 64-bit number, which the gateway writes as a text; NaN for anything else. */
export function numberOf(value: unknown): number {
  return typeof value === "string" || typeof value === "number" ? Number(value) : NaN;
}

function keyEvent(event: unknown, folder: string): readonly KeyEvent[] {
  if (!isObject(event) || !isObject(event["kv"])) return [];
  const { key, value } = event["kv"];
  const path = decode(key);
  if (!path.startsWith(folder)) return [];
  return [{ key: path.slice(folder.length), value: event["type"] === "DELETE" ? null : decode(value) }];
}

/** The body of a linearizable request for all keys of a folder. @param folder with the slash at its end */
export function folderRange(folder: string): { readonly key: string; readonly range_end: string } {
  // The folder ends with a slash; the character after it ends the range of all keys that begin so.
  return { key: encode(folder), range_end: encode(`${folder.slice(0, -1)}0`) };
}

/** A key or a value as the gateway reads it. */
export function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

export function decode(text: unknown): string {
  return typeof text === "string" ? Buffer.from(text, "base64").toString() : "";
}
