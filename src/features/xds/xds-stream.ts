import { shownText } from "./messages/shown-text.ts";
import type { PublishedPool } from "./pool-assignments.ts";
import type { SharedNames } from "./protocol/shared-names.ts";
import { Subscription } from "./protocol/subscription.ts";
import {
  endpointsType,
  type XdsClient,
  type XdsForm,
  type XdsRequest,
  type XdsResource,
  type XdsResponse,
} from "./protocol/xds-messages.ts";

/** The connection of one stream. */
export interface XdsWire {
  readonly form: XdsForm;
  /** The address of the client. */
  readonly peer: string;
  /** Sends a response. @returns whether the client keeps up: if not, nothing more is sent before it has read */
  send(response: XdsResponse): boolean;
}

/** Where a stream gets what it sends. */
export interface StreamSources {
  readonly has: (pool: string) => boolean;
  /** The names that streams subscribe to. */
  readonly names: SharedNames;
  readonly of: (pool: string) => PublishedPool | undefined;
  readonly published: () => Iterable<PublishedPool>;
  /** The versions of all that is published, by pool: the same map until something is published. */
  readonly versions: () => ReadonlyMap<string, string>;
  /** The encoding of a pool for the clients of a zone, which all of its streams share. */
  readonly encoded: (pool: PublishedPool, zone: string) => Uint8Array;
  /** Whether a stream may send now: all streams share the memory that responses take. If not, `go` is called. */
  readonly mayGo: (stream: XdsStream) => boolean;
}

/** Why a client does not take a response, in its words. */
export interface StreamRefusal {
  readonly problem: string;
  /** In ms of rolecall's clock. */
  readonly atMs: number;
}

/** How many characters of a node id or of an unknown name are shown. */
const nameMax = 128;

/** One stream of one client: what it subscribes to, and what it has. Holds no timer and no buffer. */
export class XdsStream {
  readonly wire: XdsWire;
  readonly #sources: StreamSources;
  readonly #subscription: Subscription;
  #client: XdsClient | null = null;
  #isFull = false;
  #refusal: StreamRefusal | null = null;
  #sentAtMs: number | null = null;

  constructor(wire: XdsWire, sources: StreamSources) {
    this.wire = wire;
    this.#sources = sources;
    this.#subscription = new Subscription((name) => sources.has(name), sources.names);
  }

  /** Who the client says that it is, in its first request. */
  get client(): XdsClient | null {
    return this.#client;
  }

  /** The name of the client for people: its node id, or its address if it states none. */
  get name(): string {
    return this.#client?.id.slice(0, nameMax) || this.wire.peer;
  }

  /** Why the last response was not taken; `null` once the client takes one. */
  get refusal(): StreamRefusal | null {
    return this.#refusal;
  }

  /** When something was last sent, in ms of rolecall's clock; `null` before. */
  get sentAtMs(): number | null {
    return this.#sentAtMs;
  }

  /** Subscribed names that no pool has, as they may be shown. */
  get unknownNames(): readonly string[] {
    const unknown = [...this.#subscription.unknown].filter((name) => !this.#sources.has(name));
    return unknown.map((name) => shownText(name, nameMax));
  }

  /** Whether it subscribed to more unknown names than are kept: only a new stream can tell them again. */
  get hasForgotten(): boolean {
    return this.#subscription.hasForgotten;
  }

  /** The published pools that it subscribes to. */
  get pools(): readonly PublishedPool[] {
    return [...this.#sources.published()].filter(({ pool }) => this.#subscription.isSubscribed(pool.name));
  }

  /** Whether the client has what is published of a pool now. */
  stateOf({ pool, version }: PublishedPool): ReturnType<Subscription["stateOf"]> {
    return this.#subscription.stateOf(pool.name, version);
  }

  /**
   * Takes a request, and sends what is due. A request for another type of resources is answered by nothing.
   * @returns the refusal that it holds, if it holds one
   */
  receive(request: XdsRequest, nowMs: number): StreamRefusal | null {
    this.#client ??= request.client;
    if (request.type !== "" && request.type !== endpointsType) return null;
    const { receipt, hasChanged } = this.#subscription.receive(request);
    if (receipt.kind === "ack") this.#refusal = null;
    if (receipt.kind === "nack") this.#refusal = { problem: receipt.problem, atMs: nowMs };
    if (hasChanged) this.update(this.#sources.published(), nowMs);
    return receipt.kind === "nack" ? this.#refusal : null;
  }

  /** Sends those of these pools that are due. While the client does not read, the newest state waits in the pools. */
  update(changed: Iterable<PublishedPool>, nowMs: number): void {
    if (this.#isFull) return;
    const names = Array.from(changed, ({ pool }) => pool.name);
    const due = this.#subscription.due(names, (name) => this.#sources.of(name)?.version);
    const resources = due.flatMap((name) => this.#resource(name));
    if (resources.length === 0 || !this.#sources.mayGo(this)) return;
    const nonce = this.#subscription.send(resources.map(({ name, version }) => [name, version]));
    this.#subscription.share(this.#sources.versions());
    const version = resources.at(-1)?.version ?? "";
    this.#sentAtMs = nowMs;
    this.#isFull = !this.wire.send({ type: endpointsType, version, nonce, resources });
  }

  /** It is its turn: sends what is due. */
  go(nowMs: number): void {
    this.update(this.#sources.published(), nowMs);
  }

  /** The client has read: sends what has changed meanwhile. */
  drained(nowMs: number): void {
    this.#isFull = false;
    this.go(nowMs);
  }

  #resource(name: string): readonly XdsResource[] {
    const pool = this.#sources.of(name);
    if (pool === undefined) return [];
    const value = this.#sources.encoded(pool, this.#client?.zone ?? "");
    return [{ name, version: pool.version, value }];
  }
}
