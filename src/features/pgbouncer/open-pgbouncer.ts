import type { Host, Opened } from "../../core/feature/feature.ts";
import { openBalancers } from "../../core/feature/open-balancers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { checkCompanion } from "../../core/probe/client/companion-check.ts";
import { poolerTarget } from "./audit/pooler-target.ts";
import { repairedEvents } from "./events.ts";
import { PoolerWatch } from "./pooler-watch.ts";
import { toldPushTargets } from "./push-target.ts";

/** The poolers in a process. */
export interface RunningPoolers extends Opened {
  /** Whether each answers. */
  readonly watch: Pick<PoolerWatch, "poolersOf" | "states">;
}

/**
 * Checks the PgBouncers, and leads their databases to the nodes of their pools. When the scope ends, each keeps its last
 * server.
 */
export function openPgbouncer(host: Host, scope: Scope): RunningPoolers {
  const balancers = openBalancers(host, scope, {
    pushTargets: toldPushTargets((repaired) => {
      for (const event of repairedEvents(repaired)) host.publish(event);
    }),
    auditTargets: ({ poolers }) => poolers.map(poolerTarget),
  });
  const watch = new PoolerWatch({ now: host.now, scope, check: checkCompanion, onChange: host.changed });
  scope.hold("the checks of poolers", () => watch.stop());
  return {
    ...balancers,
    watch,
    configure: (config) => {
      watch.configure(config.poolers);
      return balancers.configure(config);
    },
  };
}
