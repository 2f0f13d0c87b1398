import { isIP } from "node:net";
import type { CancelTimer, SetTimer } from "../../cluster/timer.ts";
import type { ConnectedAddress } from "../../probe/client/connected-addresses.ts";

/** What the addresses depend on. */
export interface AddressContext {
  /** All IP addresses of a name, the preferred one first. Rejects if there is none. */
  readonly lookup: (host: string) => Promise<readonly string[]>;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** Called when a name resolves to other addresses than before, and when nothing about it is pending any more. */
  readonly onChange: () => void;
}

/** The IP address of an endpoint. */
export interface EndpointAddress {
  /** `null`: not known. */
  readonly ip: string | null;
  /** Whether the name leads to another machine by now than the one that is probed. */
  readonly isElsewhere: boolean;
  /** Whether the first answer about its name has not come yet. */
  readonly isPending: boolean;
}

interface Resolved {
  /** The last good answer. */
  ips: readonly string[];
  /** When it was given, in ms of rolecall's clock. */
  atMs: number;
  isInFlight: boolean;
  /** Whether nothing has answered yet. It ends with the first answer, good or bad, or with the next try. */
  isPending: boolean;
}

/** How often names are resolved, in ms. */
const repeatMs = 5_000;

/**
 * Resolves the host names of endpoints, which Envoy gets as IP addresses. The last good answer of a name is kept.
 * Holds one timer while there are names.
 */
export class EndpointAddresses {
  readonly #context: AddressContext;
  #names = new Map<string, Resolved>();
  #cancelTimer: CancelTimer | null = null;

  constructor(context: AddressContext) {
    this.#context = context;
  }

  /** Resolves these hosts from now on, and no others. New ones are resolved at once. */
  follow(hosts: Iterable<string>): void {
    const before = this.#names;
    this.#names = new Map();
    for (const host of hosts) {
      if (isIP(host) !== 0) continue;
      const known = before.get(host);
      this.#names.set(host, known ?? { ips: [], atMs: -Infinity, isInFlight: false, isPending: true });
      if (known === undefined) void this.#resolve(host);
    }
    if (this.#names.size === 0) this.stop();
    else if (this.#cancelTimer === null) this.#schedule();
  }

  /**
   * The IP address at which clients reach an endpoint: where its name is that of the node's API, the address at which
   * the node was judged.
   * @param probed where the node is probed; `null` if it is not known
   */
  of(host: string, probed: ConnectedAddress | null): EndpointAddress {
    if (isIP(host) !== 0) return { ip: host, isElsewhere: false, isPending: false };
    const resolved = this.#names.get(host);
    const isProbed = probed !== null && probed.host.toLowerCase() === host.toLowerCase();
    if (!isProbed) return { ip: resolved?.ips[0] ?? null, isElsewhere: false, isPending: resolved?.isPending ?? true };
    const isElsewhere = resolved !== undefined && resolved.atMs > probed.sinceMs && !resolved.ips.includes(probed.ip);
    return { ip: probed.ip, isElsewhere, isPending: false };
  }

  /** Resolves nothing any more. */
  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#names = new Map();
  }

  #schedule(): void {
    this.#cancelTimer = this.#context.setTimer(() => {
      for (const [host, resolved] of this.#names) {
        this.#settle(resolved, false);
        void this.#resolve(host);
      }
      this.#schedule();
    }, repeatMs);
  }

  /** A name whose last lookup has not ended is not looked up again: lookups have no deadline of their own. */
  async #resolve(host: string): Promise<void> {
    const resolved = this.#names.get(host);
    if (resolved === undefined || resolved.isInFlight) return;
    resolved.isInFlight = true;
    // The last good answer stays.
    const ips = await this.#context.lookup(host).catch(() => []);
    resolved.isInFlight = false;
    const isOther = ips.length > 0 && new Set([...ips, ...resolved.ips]).size !== new Set(resolved.ips).size;
    if (ips.length > 0) resolved.ips = ips;
    if (ips.length > 0) resolved.atMs = this.#context.now();
    this.#settle(resolved, isOther);
  }

  #settle(resolved: Resolved, isOther: boolean): void {
    const wasPending = resolved.isPending;
    resolved.isPending = false;
    if (isOther || wasPending) this.#context.onChange();
  }
}
