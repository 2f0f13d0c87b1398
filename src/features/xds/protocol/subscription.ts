import { SentVersions } from "./sent-versions.ts";
import type { SharedNames } from "./shared-names.ts";
import type { XdsRequest } from "./xds-messages.ts";

/** What a request says. */
interface Received {
  readonly receipt: Receipt;
  /** Whether it changes what is subscribed to. Nothing else in a request makes a resource due. */
  readonly hasChanged: boolean;
}

/** What a request says of the responses before it. */
type Receipt =
  /** Nothing: it only subscribes, or answers a response before the last one. */
  | { readonly kind: "none" }
  | { readonly kind: "ack" }
  /** The client keeps what it had, and says why. */
  | { readonly kind: "nack"; readonly problem: string };

/** What a request asks for by name: names of pools, and others. */
interface AskedNames {
  readonly known: Set<string>;
  readonly unknown: Set<string>;
}

/** The name that stands for all resources. */
const wildcard = "*";
/** How many names that no pool has are kept, in case that a pool gets one of them, and how long they may be. */
const unknownMax = { names: 100, length: 256 } as const;

/**
 * What one stream subscribes to, and what was sent to it (xDS protocol, "ACK/NACK and resource type instance version",
 * "How the client specifies what resources to return", "Incremental xDS"). It sends nothing itself.
 *
 * State of the world: a request that answers a response before the last one is ignored as a whole, because the client
 * answers the last one too. Delta: its names count all the same, because each request holds other changes.
 */
export class Subscription {
  readonly #isKnown: (name: string) => boolean;
  readonly #shared: SharedNames;
  /** What it subscribes to by name: names of pools, which other streams may share, and others. */
  #names: ReadonlySet<string> = new Set();
  #unknown: ReadonlySet<string> = new Set();
  #isForAll = false;
  #isFirst = true;
  #hasNamed = false;
  #hasForgotten = false;
  readonly #sent = new SentVersions();
  /** What was sent since the last response that was accepted, by the state of that: all else that was sent is accepted. */
  #unaccepted = new Map<string, "waits" | "refused">();
  /** The number of the last response; 0 before the first. */
  #last = 0;

  /**
   * @param isKnown whether a pool has this name
   * @param shared the names that other streams subscribe to
   */
  constructor(isKnown: (name: string) => boolean, shared: SharedNames) {
    this.#isKnown = isKnown;
    this.#shared = shared;
  }

  /** Whether more unknown names were subscribed to than are kept. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** The names that no pool had when they were subscribed to. */
  get unknown(): Iterable<string> {
    return this.#unknown;
  }

  /** Takes a request. */
  receive({ nonce, refusal, names }: XdsRequest): Received {
    // Before the first response of a stream, a nonce can only be of an earlier stream.
    const isAnswer = this.#last > 0 && nonce === String(this.#last);
    const isStale = this.#last > 0 && !isAnswer;
    const hasChanged = names.form === "delta" ? this.#change(names) : !isStale && this.#replace(names.all);
    this.#isFirst = false;
    return { receipt: this.#receiptOf(isAnswer, refusal), hasChanged };
  }

  /**
   * The names whose present version was not sent yet.
   * @param among only these
   * @param versionOf the present version of a resource; `undefined`: there is none, and nothing is due
   */
  due(among: Iterable<string>, versionOf: (name: string) => string | undefined): readonly string[] {
    const due: string[] = [];
    for (const name of among) {
      if (!this.isSubscribed(name)) continue;
      const version = versionOf(name);
      if (version !== undefined && version !== this.#sent.get(name)) due.push(name);
    }
    return due;
  }

  isSubscribed(name: string): boolean {
    return this.#isForAll || this.#names.has(name) || this.#unknown.has(name);
  }

  /** Notes that these versions are sent now. @returns the nonce of the response */
  send(versions: Iterable<readonly [name: string, version: string]>): string {
    this.#last += 1;
    for (const [name, version] of versions) {
      this.#sent.set(name, version);
      this.#unaccepted.set(name, "waits");
    }
    return String(this.#last);
  }

  /** Shares the versions of all that is published with other streams, if this one was sent all. */
  share(published: ReadonlyMap<string, string>): void {
    this.#sent.share(published);
  }

  /** Whether the client has this version of a resource; `refused`: it said that it does not take it. */
  stateOf(name: string, version: string): "has" | "waits" | "refused" {
    return this.#sent.get(name) === version ? (this.#unaccepted.get(name) ?? "has") : "waits";
  }

  #receiptOf(isAnswer: boolean, refusal: string | null): Receipt {
    if (!isAnswer) return { kind: "none" };
    if (refusal !== null) {
      for (const name of this.#unaccepted.keys()) this.#unaccepted.set(name, "refused");
      return { kind: "nack", problem: refusal };
    }
    if (this.#unaccepted.size > 0) this.#unaccepted = new Map();
    return { kind: "ack" };
  }

  /** @returns whether it can make a resource due */
  #replace(all: readonly string[]): boolean {
    const [names, unknown] = [this.#names, this.#unknown];
    this.#isForAll = all.includes(wildcard) || (all.length === 0 && !this.#hasNamed);
    this.#hasNamed ||= all.length > 0;
    const asked = { known: new Set<string>(), unknown: new Set<string>() };
    this.#add(all, asked);
    this.#keep(asked);
    return this.#isForAll || all.some((name) => !names.has(name) && !unknown.has(name));
  }

  /** @returns whether it can make a resource due */
  #change(names: Extract<XdsRequest["names"], { readonly form: "delta" }>): boolean {
    const { subscribe, unsubscribe, versions } = names;
    const hasChanged = this.#isFirst || subscribe.length > 0;
    if (subscribe.includes(wildcard) || (this.#isFirst && subscribe.length === 0)) this.#isForAll = true;
    if (subscribe.length > 0 || unsubscribe.length > 0) {
      const asked = { known: new Set(this.#names), unknown: new Set(this.#unknown) };
      // The client asks for them, even if it has them.
      for (const name of subscribe) this.#sent.delete(name);
      this.#add(subscribe, asked);
      for (const name of unsubscribe) {
        if (name === wildcard) this.#isForAll = false;
        asked.known.delete(name);
        asked.unknown.delete(name);
      }
      this.#keep(asked);
    }
    if (!this.#isFirst) return hasChanged;
    for (const [name, version] of Object.entries(versions))
      if (typeof version === "string" && this.#isKnown(name) && this.isSubscribed(name)) this.#sent.set(name, version);
    return hasChanged;
  }

  /** A name that comes back is due again. */
  #forgetUnsubscribed(): void {
    for (const name of this.#sent.names())
      if (!this.isSubscribed(name)) {
        this.#sent.delete(name);
        this.#unaccepted.delete(name);
      }
  }

  /** Adds names to those that are asked for: names of pools, and others. */
  #add(names: readonly string[], { known, unknown }: AskedNames): void {
    for (const name of names) {
      if (name === wildcard) continue;
      if (this.#isKnown(name)) known.add(name);
      else if (name.length <= unknownMax.length && unknown.size < unknownMax.names) unknown.add(name);
      else this.#hasForgotten = true;
    }
  }

  /** Subscribes to these names, and to no others. */
  #keep({ known, unknown }: AskedNames): void {
    this.#names = this.#shared.of(known);
    this.#unknown = unknown;
    this.#forgetUnsubscribed();
  }
}
