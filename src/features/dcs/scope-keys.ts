/** The keys of one scope in etcd, how they are read, and what their changes mean. */
import { isObject, nameOf } from "../../core/cluster/values/json.ts";
import { parsePythonJson } from "../../core/cluster/values/python-json.ts";
import { encode, folderRange, type KeyEvent } from "../../core/etcd/etcd-messages.ts";
import type { EtcdLimits } from "../../core/etcd/etcd-client.ts";
import type { WatchUnits } from "../../core/etcd/etcd-watch.ts";
import type { DcsChange } from "../../core/dcs/dcs-source.ts";

/** The keys of one scope: `{prefix}/{scope}/…`. */
export interface ScopeKeys {
  /** With the slash at its end. */
  readonly folder: string;
  readonly leader: string;
  readonly failover: string;
}

/** @param prefix with a leading slash, without one at its end */
export function scopeKeys(prefix: string, scope: string): ScopeKeys {
  const folder = `${prefix}/${scope}/`;
  return { folder, leader: `${folder}leader`, failover: `${folder}failover` };
}

/** The body of a linearizable range request for one key. `serializable` is absent: any other read may be old. */
export function keyRange(key: string): object {
  return { key: encode(key) };
}

/** The body of a linearizable request for any one key of a folder. */
export function anyKeyRange(folder: string): object {
  return { ...folderRange(folder), limit: "1", keys_only: true };
}

/** A leader key is some hundred bytes; a connection may bring some hundred times what a watch of a large cluster needs. */
export const scopeLimits: EtcdLimits = {
  bodyMax: 256 * 1024,
  json: { members: 4_096, separators: 8_192 },
  connection: { perSecond: 1024 * 1024, burst: 4 * 1024 * 1024 },
};

/**
 * Many times what the members of a large Patroni cluster write. A reported change costs most: it makes rolecall read the
 * leader key and probe nodes.
 */
export const scopeUnits: WatchUnits = {
  perSecond: 500,
  burst: 2_000,
  change: 25,
  messageMax: 1024 * 1024,
  json: { members: 4_096, separators: 8_192 },
};

/** The latest role in each member's key. More members than this are not remembered. */
const membersMax = 512;

/** Finds the changes that matter among the events of a watch: members write their positions all the time. */
export class ChangeFilter {
  readonly #known = new Map<string, string | null>();

  /** @returns `null` for an event that changes nothing */
  changeOf({ key, value }: KeyEvent): DcsChange | null {
    if (key === "leader") return { kind: "leader", names: nameOf(value, 128) };
    const isMember = key.startsWith("members/");
    if (!isMember && !otherKeys.has(key)) return null;
    const kept = isMember ? roleIn(value) : value;
    const before = this.#known.get(key);
    if (before !== undefined || this.#known.size < membersMax) this.#known.set(key, kept);
    // What a member was before the watch began is not known.
    const isChange = before === undefined ? !isMember : before !== kept;
    return isChange ? { kind: "other", key } : null;
  }
}

const otherKeys: ReadonlySet<string> = new Set(["sync", "failsafe", "failover"]);

function roleIn(value: string | null): string | null {
  const member = value === null ? null : parsePythonJson(value);
  return isObject(member) ? nameOf(member["role"], 64) : null;
}
