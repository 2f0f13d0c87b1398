import type { Host, Opened } from "../../core/feature/feature.ts";
import { openBalancers } from "../../core/feature/open-balancers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { poolerTarget } from "./audit/pooler-target.ts";
import { poolerPushTargets } from "./push-target.ts";

/** Leads the databases of PgBouncers to the nodes of their pools. When the scope ends, each keeps its last server. */
export function openPgbouncer(host: Host, scope: Scope): Opened {
  return openBalancers(host, scope, {
    pushTargets: poolerPushTargets,
    auditTargets: ({ poolers }) => poolers.map(poolerTarget),
  });
}
