import { BalancerSet } from "../../balancing/balancer-set.ts";
import type { Host, Opened } from "../../feature/feature.ts";
import { auditTargets, balancers } from "../../feature/offers.ts";
import type { Scope } from "../../feature/scope.ts";
import { poolerTarget } from "./audit/pooler-target.ts";
import { poolerPushTargets } from "./push-target.ts";

/** What the pushes to PgBouncers need of their host. */
type PgbouncerHost = Pick<Host, "log" | "metrics" | "cluster" | "policy" | "observe" | "offers">;

/** Leads the databases of PgBouncers to the nodes of their pools until the scope ends. */
export function openPgbouncer(host: PgbouncerHost, scope: Pick<Scope, "setTimer" | "hold">): Opened {
  const set = new BalancerSet({ ...host, now: host.observe, setTimer: scope.setTimer });
  const offers = [
    balancers.bring(host.offers, set),
    auditTargets.bring(host.offers, ({ poolers }) => poolers.map(poolerTarget)),
  ];
  for (const takeBack of offers) scope.hold("what is offered", takeBack);
  // A PgBouncer keeps its last server.
  scope.hold("the consoles", () => set.stop());
  return {
    configure: (config) => set.configure(poolerPushTargets(config, host)),
    clusterChanged: (cluster) => set.clusterChanged(cluster),
  };
}
