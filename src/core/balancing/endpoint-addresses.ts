import { isIP } from "node:net";
import type { CancelTimer, SetTimer } from "../cluster/timer.ts";
import type { ConnectedAddress } from "../probe/client/connected-addresses.ts";
import { type HostAddresses, resolvedEveryMs } from "./host-addresses.ts";

/** What the addresses depend on. */
export interface AddressContext {
  readonly hosts: Pick<HostAddresses, "resolved">;
  readonly setTimer: SetTimer;
  /** Called when a name is no longer pending, because a whole try has passed. */
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

/** The IP addresses of endpoints, whose names are resolved again in time. Holds one timer while there are names. */
export class EndpointAddresses {
  readonly #context: AddressContext;
  #names: ReadonlySet<string> = new Set();
  #cancelTimer: CancelTimer | null = null;

  constructor(context: AddressContext) {
    this.#context = context;
  }

  /** Resolves these hosts from now on, and no others. New ones are resolved at once. */
  follow(hosts: Iterable<string>): void {
    this.#names = new Set([...hosts].filter((host) => isIP(host) === 0));
    for (const host of this.#names) this.#context.hosts.resolved(host);
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
    const { ips, atMs, isPending } = this.#context.hosts.resolved(host);
    if (probed === null || probed.host.toLowerCase() !== host.toLowerCase())
      return { ip: ips[0] ?? null, isElsewhere: false, isPending };
    const isElsewhere = atMs > probed.sinceMs && !ips.includes(probed.ip);
    return { ip: probed.ip, isElsewhere, isPending: false };
  }

  /** Resolves nothing any more. */
  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#names = new Set();
  }

  #schedule(): void {
    this.#cancelTimer = this.#context.setTimer(() => {
      const states = [...this.#names].map((host) => this.#context.hosts.resolved(host));
      // A lookup that has not ended by now is no longer waited for.
      if (states.some(({ ips, isPending }) => ips.length === 0 && !isPending)) this.#context.onChange();
      this.#schedule();
    }, resolvedEveryMs);
  }
}
