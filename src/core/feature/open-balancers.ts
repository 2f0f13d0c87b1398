import type { FindAuditTargets } from "../balancing/audited/audit-target.ts";
import { BalancerSet, type FindPushTargets } from "../balancing/balancer-set.ts";
import type { Host, Opened } from "./feature.ts";
import { auditTargets, balancers } from "./offers.ts";
import type { Scope } from "./scope.ts";

/** What balancers that are pushed to need of their host. */
type BalancersHost = Pick<Host, "log" | "metrics" | "cluster" | "policy" | "observe" | "offers">;

/** What differs between the kinds of balancers. */
export interface BalancerKind {
  readonly pushTargets: FindPushTargets;
  readonly auditTargets: FindAuditTargets;
}

/** Sends changes of verdicts to the balancers of one kind, and offers them, until the scope ends. */
export function openBalancers(
  host: BalancersHost,
  scope: Pick<Scope, "setTimer" | "hold">,
  kind: BalancerKind,
): Opened {
  const set = new BalancerSet({ ...host, now: host.observe, setTimer: scope.setTimer });
  const offers = [balancers.bring(host.offers, set), auditTargets.bring(host.offers, kind.auditTargets)];
  for (const takeBack of offers) scope.hold("what is offered", takeBack);
  scope.hold("the connections", () => set.stop());
  return {
    configure: (config) => set.configure(kind.pushTargets(config, host)),
    clusterChanged: (cluster) => set.clusterChanged(cluster),
  };
}
