import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Resolves a name to its addresses. */
export type LookUp = (host: string) => Promise<readonly string[]>;

interface ResolvedHost {
  /** `undefined` until an answer came; `null`: it could not be resolved. */
  address: string | null | undefined;
  askedAtMs: number;
  isAsking: boolean;
}

/** How often a name is resolved again, in ms. */
const repeatMs = 5_000;
/** The most names that are kept. */
const hostsMax = 4_096;

const systemLookUp: LookUp = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** The IP addresses of hosts. HAProxy does not resolve the names of servers that are added to it. */
export class HostAddresses {
  readonly #lookUp: LookUp;
  readonly #now: () => number;
  readonly #hosts = new Map<string, ResolvedHost>();

  /** @param now ms of rolecall's clock */
  constructor(now: () => number, lookUp: LookUp = systemLookUp) {
    this.#now = now;
    this.#lookUp = lookUp;
  }

  /**
   * Returns the address of a host without waiting: the last one that was found. A name is resolved again meanwhile if
   * that is due. An address that is still one of the name's stays.
   * @returns `undefined` until the first answer came; `null` if the name could not be resolved
   */
  of(host: string): string | null | undefined {
    if (isIP(host) !== 0) return host;
    const known = this.#hosts.get(host) ?? { address: undefined, askedAtMs: -Infinity, isAsking: false };
    if (!this.#hosts.has(host) && this.#hosts.size >= hostsMax) this.#hosts.clear();
    this.#hosts.set(host, known);
    if (!known.isAsking && this.#now() - known.askedAtMs >= repeatMs) void this.#ask(host, known);
    return known.address;
  }

  async #ask(host: string, known: ResolvedHost): Promise<void> {
    known.isAsking = true;
    known.askedAtMs = this.#now();
    try {
      const found = await this.#lookUp(host);
      if (!found.includes(known.address ?? "")) known.address = found[0] ?? known.address ?? null;
    } catch {
      known.address ??= null;
    } finally {
      known.isAsking = false;
    }
  }
}
