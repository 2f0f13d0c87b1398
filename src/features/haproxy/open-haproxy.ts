import { BalancerSet } from "../../balancing/balancer-set.ts";
import type { Host, Opened } from "../../feature/feature.ts";
import { auditTargets, balancers } from "../../feature/offers.ts";
import type { Scope } from "../../feature/scope.ts";
import { haproxyTarget } from "./haproxy-target.ts";
import { haproxyPushTargets } from "./push-target.ts";

/** What the pushes to HAProxies need of their host. */
type HaproxyHost = Pick<Host, "log" | "metrics" | "cluster" | "policy" | "observe" | "offers">;

/** Sends changes of verdicts to the HAProxies of the configuration until the scope ends. */
export function openHaproxy(host: HaproxyHost, scope: Pick<Scope, "setTimer" | "hold">): Opened {
  const set = new BalancerSet({ ...host, now: host.observe, setTimer: scope.setTimer });
  const offers = [
    balancers.bring(host.offers, set),
    auditTargets.bring(host.offers, (config) => config.balancers.map(haproxyTarget)),
  ];
  for (const takeBack of offers) scope.hold("what is offered", takeBack);
  // HAProxy's own checks decide from then on.
  scope.hold("the connections", () => set.stop());
  return {
    configure: (config) => set.configure(haproxyPushTargets(config, host)),
    clusterChanged: (cluster) => set.clusterChanged(cluster),
  };
}
