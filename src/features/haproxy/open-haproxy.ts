import type { Host, Opened } from "../../core/feature/feature.ts";
import { openBalancers } from "../../core/feature/open-balancers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { haproxyTarget } from "./haproxy-target.ts";
import { haproxyPushTargets } from "./push-target.ts";

/** Sends changes of verdicts to HAProxies. When the scope ends, HAProxy's own checks decide. */
export function openHaproxy(host: Host, scope: Scope): Opened {
  return openBalancers(host, scope, {
    pushTargets: haproxyPushTargets,
    auditTargets: (config) => config.balancers.map(haproxyTarget),
  });
}
