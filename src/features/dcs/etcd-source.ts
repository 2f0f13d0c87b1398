import type { DcsResult } from "../../core/cluster/dcs.ts";
import type { Failure } from "../../core/cluster/values/failure.ts";
import { nameOf } from "../../core/cluster/values/json.ts";
import type { AccessMaterial } from "../../core/config/access-material.ts";
import { failureOf } from "../../core/probe/client/failure.ts";
import { EtcdClient, statusText } from "../../core/etcd/etcd-client.ts";
import { type KeyEvent, parseRange, type RangeReply } from "../../core/etcd/etcd-messages.ts";
import { EtcdWatch, WatchLimit } from "../../core/etcd/etcd-watch.ts";
import type { DcsChange, DcsSource, DcsWatch } from "../../core/dcs/dcs-source.ts";
import {
  anyKeyRange,
  ChangeFilter,
  keyRange,
  scopeKeys,
  type ScopeKeys,
  scopeLimits,
  scopeUnits,
} from "./scope-keys.ts";

/** Where the keys of a cluster are. */
export interface EtcdLocation {
  /** Base addresses of the members. */
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly scope: string;
}

/** The keys of one Patroni cluster in etcd v3. The members are tried in turn. */
export class EtcdSource implements DcsSource {
  readonly #keys: ScopeKeys;
  readonly #clients: readonly EtcdClient[];
  readonly #timeoutMs: number;
  #at = 0;
  /** Whether the last read found a leader key. */
  #hadLeader = false;

  /** @param timeoutMs the deadline of each request */
  constructor({ endpoints, prefix, scope }: EtcdLocation, access: AccessMaterial, timeoutMs: number) {
    this.#keys = scopeKeys(prefix, scope);
    this.#timeoutMs = timeoutMs;
    this.#clients = endpoints.map((endpoint) => new EtcdClient(endpoint, access, { timeoutMs, limits: scopeLimits }));
  }

  get serverCount(): number {
    return this.#clients.length;
  }

  async read(): Promise<DcsResult> {
    const result = await this.#readLeader().catch((error: unknown) => ({ failure: failureOf(error) }));
    if ("failure" in result) this.#at = (this.#at + 1) % this.#clients.length;
    return result;
  }

  async isChangePending(): Promise<boolean | null> {
    const range = await this.#range(keyRange(this.#keys.failover)).catch(() => null);
    return range === null || "failure" in range ? null : range.reply.found.length > 0;
  }

  watch(afterRevision: number, onChange: (change: DcsChange) => void): DcsWatch {
    const { folder } = this.#keys;
    const filter = new ChangeFilter();
    const limit = new WatchLimit(scopeUnits);
    const changeOf = (event: KeyEvent): DcsChange | null => filter.changeOf(event);
    const options = { folder, afterRevision, timeoutMs: this.#timeoutMs, limit, changeOf, onChange };
    return new EtcdWatch(this.#client, options);
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  get #client(): EtcdClient {
    const client = this.#clients[this.#at];
    if (client === undefined) throw new Error("Cannot call etcd: there must be at least one address");
    return client;
  }

  async #readLeader(): Promise<DcsResult> {
    const range = await this.#range(keyRange(this.#keys.leader));
    if ("failure" in range) return range;
    const { clusterId, revision, found } = range.reply;
    const value = found[0]?.value;
    const leader = value === undefined ? null : nameOf(value, 128);
    if (value !== undefined && (leader === null || leader === ""))
      return unreadable(`${this.#keys.leader} must be a member's name, got something else`);
    // A key that has just gone withdraws a yes, which must not wait for another call: its scope has other keys.
    const isKnown = value !== undefined || this.#hadLeader;
    this.#hadLeader = value !== undefined;
    const any = isKnown ? null : await this.#range(anyKeyRange(this.#keys.folder));
    if (any !== null && "failure" in any) return any;
    const hasScope = any === null || any.reply.found.length > 0;
    return { read: { leader, source: `etcd ${clusterId} ${this.#keys.leader}`, revision, hasScope } };
  }

  async #range(request: object): Promise<{ readonly reply: RangeReply } | { readonly failure: Failure }> {
    const reply = await this.#client.call("/v3/kv/range", request);
    if ("failure" in reply) return reply;
    if (reply.status !== 200) return { failure: { kind: "status", detail: `etcd answers ${statusText(reply)}` } };
    const range = parseRange(reply.body);
    return range === null
      ? unreadable("the response must be of etcd's range call, got something else")
      : { reply: range };
  }
}

function unreadable(detail: string): { readonly failure: Failure } {
  return { failure: { kind: "body", detail } };
}
