import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/** Resolves a name to its IP addresses, the preferred one first. Rejects if there is none. */
export type LookUp = (host: string) => Promise<readonly string[]>;

/** What is known of a name. */
export interface ResolvedHost {
  /** Those of the last good answer. */
  readonly ips: readonly string[];
  /** When that answer came, in ms of rolecall's clock; -Infinity while there is none. */
  readonly atMs: number;
  /** Whether nothing has answered yet, for one try at most: a lookup has no deadline of its own. */
  readonly isPending: boolean;
}

interface KnownHost {
  ips: readonly string[];
  atMs: number;
  firstAskedAtMs: number;
  askedAtMs: number;
  isAsking: boolean;
  isAnswered: boolean;
  /** The address that is used: it stays while the name has it. */
  used: string | null;
}

/** How often names are resolved again, in ms. */
export const resolvedEveryMs = 5_000;
/** The most names that are kept. */
const hostsMax = 4_096;

const systemLookUp: LookUp = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * The IP addresses of hosts, for balancers that resolve no names of servers that rolecall names to them. Holds no timer:
 * a name is resolved again when it is asked for, if that is due.
 */
export class HostAddresses {
  readonly #lookUp: LookUp;
  readonly #now: () => number;
  readonly #onChange: () => void;
  readonly #hosts = new Map<string, KnownHost>();

  /**
   * @param now ms of rolecall's clock
   * @param onChange called when a name has other addresses than before, or has none after its first lookup
   */
  constructor(now: () => number, lookUp: LookUp = systemLookUp, onChange: () => void = () => {}) {
    this.#now = now;
    this.#lookUp = lookUp;
    this.#onChange = onChange;
  }

  /**
   * Returns one address of a host without waiting: the last one that was found. One that is still one of the name's
   * stays.
   * @returns `undefined` until the first answer came; `null` if the name could not be resolved
   */
  of(host: string): string | null | undefined {
    if (isIP(host) !== 0) return host;
    const known = this.#known(host);
    return known.used ?? (this.#isPending(known) ? undefined : null);
  }

  /** Returns all that is known of a name, without waiting. */
  resolved(host: string): ResolvedHost {
    const known = this.#known(host);
    return { ips: known.ips, atMs: known.atMs, isPending: this.#isPending(known) };
  }

  #isPending({ isAnswered, firstAskedAtMs }: KnownHost): boolean {
    return !isAnswered && this.#now() - firstAskedAtMs < resolvedEveryMs;
  }

  #known(host: string): KnownHost {
    const nowMs = this.#now();
    let known = this.#hosts.get(host);
    if (known === undefined) {
      const never = { ips: [], atMs: -Infinity, askedAtMs: -Infinity, used: null };
      known = { ...never, firstAskedAtMs: nowMs, isAsking: false, isAnswered: false };
      if (this.#hosts.size >= hostsMax) this.#hosts.clear();
      this.#hosts.set(host, known);
    }
    if (!known.isAsking && nowMs - known.askedAtMs >= resolvedEveryMs) void this.#ask(host, known);
    return known;
  }

  async #ask(host: string, known: KnownHost): Promise<void> {
    known.isAsking = true;
    known.askedAtMs = this.#now();
    // The last good answer stays.
    const found: readonly string[] = await this.#lookUp(host).catch(() => []);
    known.isAsking = false;
    const isOther = found.length > 0 && new Set([...found, ...known.ips]).size !== new Set(known.ips).size;
    const isFirst = !known.isAnswered;
    known.isAnswered = true;
    if (found.length > 0) {
      known.ips = found;
      known.atMs = this.#now();
      if (known.used === null || !found.includes(known.used)) known.used = found[0] ?? null;
    }
    if (isOther || isFirst) this.#onChange();
  }
}
