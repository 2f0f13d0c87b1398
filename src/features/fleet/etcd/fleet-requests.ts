/** What a fleet writes to etcd's JSON gateway (etcd 3.4 and later), and what it reads of the answers. */
import { decode, encode, numberOf } from "../../../core/etcd/etcd-messages.ts";
import type { ClaimedKey } from "../ownership/fleet-store.ts";
import { isObject, listOf } from "../../../core/cluster/values/json.ts";

/** Writes a key if there is none. */
export function claimRequest(key: string, value: string, lease: string): object {
  const free = { key: encode(key), target: "CREATE", result: "EQUAL", create_revision: "0" };
  return { compare: [free], success: [{ request_put: putRequest(key, value, lease) }] };
}

/** The same, and reads what is there if there is one. */
export function claimOrReadRequest(key: string, value: string, lease: string): object {
  return { ...claimRequest(key, value, lease), failure: [{ request_range: { key: encode(key) } }] };
}

/** Writes a key if it has a value. */
export function passRequest(key: string, from: string, to: { readonly value: string; readonly lease: string }): object {
  return { compare: [hasValue(key, from)], success: [{ request_put: putRequest(key, to.value, to.lease) }] };
}

/** Deletes a key if it has a value. */
export function releaseRequest(key: string, value: string): object {
  return { compare: [hasValue(key, value)], success: [{ request_delete_range: { key: encode(key) } }] };
}

/** Writes a key. */
export function putRequest(key: string, value: string, lease: string): object {
  return { key: encode(key), value: encode(value), lease };
}

/** Whether a transaction was carried out; `null` if the answer is none to a transaction. */
export function parseTransaction(body: unknown): boolean | null {
  if (!isObject(body) || !isObject(body["header"])) return null;
  return body["succeeded"] === true;
}

/** What a key holds after {@link claimOrReadRequest}; `null` if the answer does not say. */
export function parseClaim(body: unknown, value: string): ClaimedKey | null {
  const isDone = parseTransaction(body);
  if (isDone === null || !isObject(body) || !isObject(body["header"])) return null;
  const revision = numberOf(body["header"]["revision"]);
  if (!Number.isSafeInteger(revision) || revision < 1) return null;
  if (isDone) return { value, revision };
  const response = listOf(body["responses"])[0];
  const range = isObject(response) ? response["response_range"] : null;
  const found = isObject(range) ? listOf(range["kvs"])[0] : null;
  if (!isObject(found)) return null;
  const createdAt = numberOf(found["create_revision"]);
  return Number.isSafeInteger(createdAt) && createdAt >= 1
    ? { value: decode(found["value"]), revision: createdAt }
    : null;
}

/** The lease that was granted; `null` if none was. */
export function parseGrant(body: unknown): string | null {
  const id = isObject(body) ? body["ID"] : null;
  return typeof id === "string" && /^\d{1,20}$/.test(id) && id !== "0" ? id : null;
}

/** For how many seconds a lease lives on; 0 if it has ended; `null` if the answer does not say. */
export function parseKeepAlive(body: unknown): number | null {
  const result = isObject(body) ? body["result"] : null;
  if (!isObject(result) || result["ID"] === undefined) return null;
  return result["TTL"] === undefined ? 0 : numberOf(result["TTL"]);
}

function hasValue(key: string, value: string): object {
  return { key: encode(key), target: "VALUE", result: "EQUAL", value: encode(value) };
}
