import type { ListenerConfig } from "../../core/config/model/config.ts";
import { parseCidr } from "../../core/config/values/cidr.ts";
import { isLoopback } from "../../core/config/values/loopback.ts";

/** The node ids of the Envoys that count on a listener; `all`: every one does. */
export type CountedEnvoys = "all" | ReadonlySet<string>;

/**
 * Which Envoys count: switchovers wait for them, and the audit looks at what they have taken. Whoever connects is served;
 * but where strangers may connect, one that takes nothing would hold every switchover until its deadline. There only
 * those count that the configuration lists.
 */
export function countedEnvoys({
  address,
  access: { allow, auth, tls },
  xds,
}: Pick<ListenerConfig, "address" | "access" | "xds">): CountedEnvoys {
  const isClosed =
    isLoopback(address) ||
    auth !== null ||
    tls?.client === "required" ||
    (allow !== null && !allow.some((network) => (parseCidr(network)?.prefix ?? 0) <= 1));
  return isClosed ? "all" : new Set(xds?.envoys);
}
