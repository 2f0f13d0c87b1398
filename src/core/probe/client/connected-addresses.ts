import { LRUCache } from "lru-cache";

/** Where the last connection to an API leads. */
export interface ConnectedAddress {
  /** The host of the API, as it is written. */
  readonly host: string;
  /** The IP address of the connection. */
  readonly ip: string;
  /** When it was opened, in ms of rolecall's clock. */
  readonly sinceMs: number;
}

/** The most addresses that are remembered: clusters have a bounded number of members. */
const rememberedMax = 10_000;

/** Remembers to which IP address the probes of each API are connected. */
export class ConnectedAddresses {
  readonly #now: () => number;
  readonly #byOrigin = new LRUCache<string, ConnectedAddress>({ max: rememberedMax });

  /** @param now rolecall's clock, in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes a new connection. @param origin the base address of the API */
  connected(origin: string, ip: string): void {
    const host = new URL(origin).hostname.replace(/^\[(.*)\]$/, "$1");
    this.#byOrigin.set(origin, { host, ip, sinceMs: this.#now() });
  }

  /** Where an API was last connected to; `null` if it never was. */
  of(origin: string | null): ConnectedAddress | null {
    return origin === null ? null : (this.#byOrigin.get(origin) ?? null);
  }
}
